import type { ProviderTable } from './entries';

/** Scaling numbers above the ranges here, and zero, are not listed: they cost a lot, or take a service down. */
export const AWS: ProviderTable = {
  names: ['aws'],
  common: `id arn name name_prefix description tags:descriptive_keys tags_all:descriptive_keys region? region:own_region
    timeouts`,
  types: {
    aws_acm_certificate: `domain_name domain_validation_options early_renewal_duration key_algorithm not_after
      not_before options? pending_renewal renewal_eligibility renewal_summary status subject_alternative_names type
      validation_emails validation_method=DNS`,
    aws_acm_certificate_validation: 'certificate_arn validation_record_fqdns',
    aws_appautoscaling_policy: `alarm_arns policy_type=TargetTrackingScaling resource_id+ scalable_dimension+
      service_namespace+ target_tracking_scaling_policy_configuration.disable_scale_in=false
      target_tracking_scaling_policy_configuration.predefined_metric_specification.predefined_metric_type=ECSServiceAverageCPUUtilization|ECSServiceAverageMemoryUtilization|DynamoDBReadCapacityUtilization|DynamoDBWriteCapacityUtilization
      target_tracking_scaling_policy_configuration.scale_in_cooldown=60..3600
      target_tracking_scaling_policy_configuration.scale_out_cooldown=0..3600
      target_tracking_scaling_policy_configuration.target_value=30..90`,
    aws_appautoscaling_target: `max_capacity=1..100 min_capacity=1..100 resource_id+ scalable_dimension+
      service_namespace+`,
    aws_autoscaling_group: `capacity_rebalance default_cooldown default_instance_warmup desired_capacity=1..100
      enabled_metrics health_check_grace_period=0..900 max_size=1..100 metrics_granularity min_elb_capacity
      min_size=1..100 predicted_capacity wait_for_capacity_timeout wait_for_elb_capacity warm_pool_size`,
    aws_autoscaling_policy: `autoscaling_group_name+ enabled=true estimated_instance_warmup metric_aggregation_type
      policy_type=TargetTrackingScaling target_tracking_configuration.disable_scale_in=false
      target_tracking_configuration.predefined_metric_specification.predefined_metric_type=ASGAverageCPUUtilization
      target_tracking_configuration.target_value=30..90`,
    aws_cloudwatch_composite_alarm: `actions_enabled=true alarm_actions:own_topics alarm_description alarm_name
      alarm_rule+ insufficient_data_actions:own_topics ok_actions:own_topics`,
    aws_cloudwatch_dashboard: 'dashboard_arn dashboard_body:plain_widgets dashboard_name',
    aws_cloudwatch_event_bus: '',
    aws_cloudwatch_event_rule: 'event_bus_name+ event_pattern+ force_destroy=false is_enabled=true state=ENABLED',
    aws_cloudwatch_log_group: `deletion_protection_enabled kms_key_id:own_key kms_key_id:new_alias log_group_class+
      retention_in_days=0|14..3653 skip_destroy`,
    aws_cloudwatch_log_metric_filter: 'apply_on_transformed_logs+ log_group_name+ metric_transformation+ pattern+',
    aws_cloudwatch_log_stream: 'log_group_name',
    aws_cloudwatch_metric_alarm: `actions_enabled alarm_actions:own_topics alarm_description alarm_name
      comparison_operator+ datapoints_to_alarm+ dimensions+ evaluate_low_sample_count_percentiles
      evaluate_low_sample_count_percentiles? evaluation_periods+ extended_statistic+
      insufficient_data_actions:own_topics metric_name+ metric_query+ namespace+ ok_actions:own_topics period+
      statistic+ threshold+ threshold_metric_id+ treat_missing_data+ unit+`,
    aws_cloudwatch_query_definition: 'log_group_names query_definition_id query_string',
    aws_db_instance: `address allocated_storage=20..1000 auto_minor_version_upgrade=true backup_retention_period
      copy_tags_to_snapshot=true deletion_protection enabled_cloudwatch_logs_exports endpoint engine_version_actual
      hosted_zone_id instance_class:next_size iops=1000..12000 latest_restorable_time listener_endpoint
      master_user_secret max_allocated_storage=20..2000 monitoring_interval=1..60 multi_az=true
      performance_insights_enabled=true performance_insights_retention_period replicas resource_id status
      storage_throughput=125..1000 storage_type=gp2|gp3`,
    aws_dynamodb_table: `attribute+ billing_mode deletion_protection_enabled! deletion_protection_enabled=true
      global_secondary_index+ hash_key+ local_secondary_index+ point_in_time_recovery!
      point_in_time_recovery.enabled=true point_in_time_recovery.recovery_period_in_days point_in_time_recovery?
      range_key+ read_capacity=1..1000 read_capacity? server_side_encryption.enabled=true
      server_side_encryption.kms_key_arn? server_side_encryption? stream_arn stream_enabled=false stream_label
      stream_view_type? table_class ttl warm_throughput? write_capacity=1..1000 write_capacity?`,
    aws_ebs_volume: `availability_zone+ create_time encrypted final_snapshot iops=1..16000 iops? kms_key_id:own_key
      kms_key_id:new_alias multi_attach_enabled=false size=1..1000 snapshot_id? throughput=125..1000 throughput?
      type=gp2|gp3|st1|sc1 volume_initialization_rate?`,
    aws_ecr_lifecycle_policy: 'policy registry_id repository',
    aws_ecr_repository: `encryption_configuration.encryption_type encryption_configuration.kms_key?
      force_delete=false image_scanning_configuration image_tag_mutability=IMMUTABLE registry_id repository_url`,
    aws_ecs_cluster: 'setting.name setting.value=enabled|enhanced setting?',
    aws_ecs_service: `deployment_maximum_percent=100..200 deployment_minimum_healthy_percent=50..100
      desired_count=1..100 enable_ecs_managed_tags health_check_grace_period_seconds=0..900 propagate_tags
      wait_for_steady_state`,
    aws_efs_file_system: `availability_zone_id? availability_zone_name? creation_token dns_name encrypted
      kms_key_id:own_key kms_key_id:new_alias number_of_mount_targets owner_id performance_mode+ protection?
      size_in_bytes throughput_mode=bursting|elastic`,
    aws_eip: `address? allocation_id association_id carrier_ip customer_owned_ip domain=vpc instance?
      network_border_group? network_interface? private_dns private_ip ptr_record public_dns public_ip
      public_ipv4_pool?`,
    aws_eks_node_group: `resources scaling_config.desired_size=1..100 scaling_config.max_size=1..100
      scaling_config.min_size=0..100 status`,
    aws_elasticache_replication_group: `auto_minor_version_upgrade=true automatic_failover_enabled=true
      cluster_enabled configuration_endpoint_address engine_version_actual member_clusters multi_az_enabled=true
      node_type:next_size num_cache_clusters=2..6 primary_endpoint_address reader_endpoint_address
      snapshot_retention_limit`,
    aws_instance: `disable_api_stop disable_api_termination ebs_optimized=true instance_lifecycle instance_state
      instance_type:next_size metadata_options.http_tokens=required metadata_options.instance_metadata_tags
      monitoring=true private_dns public_dns public_ip root_block_device.tags:descriptive_keys
      root_block_device.tags_all:descriptive_keys root_block_device.volume_size=1..1000
      root_block_device.volume_type=gp2|gp3 volume_tags:descriptive_keys`,
    aws_kinesis_stream: `encryption_type=KMS enforce_consumer_deletion=false kms_key_id:own_key kms_key_id:new_alias
      max_record_size_in_kib? retention_period shard_count=1..20 shard_level_metrics stream_mode_details
      stream_mode_details?`,
    aws_kms_alias: 'target_key_arn target_key_id:own_key target_key_id:unknown',
    aws_kms_key: `bypass_policy_lockout_safety_check=false customer_master_key_spec=SYMMETRIC_DEFAULT
      deletion_window_in_days=7..30 enable_key_rotation=true is_enabled=true key_id key_usage+ multi_region=false
      multi_region? policy? rotation_period_in_days rotation_period_in_days?`,
    aws_lambda_function: `code_sha256 ephemeral_storage.size=512..10240 invoke_arn last_modified
      memory_size=128..3008 publish qualified_arn qualified_invoke_arn reserved_concurrent_executions+=-1 reserved_concurrent_executions=1..1000
      source_code_size timeout=1..300 version`,
    aws_lambda_provisioned_concurrency_config: `function_name provisioned_concurrent_executions=1..100 qualifier
      skip_destroy`,
    aws_launch_template: `ebs_optimized=true instance_type:next_size latest_version
      metadata_options.http_tokens=required monitoring.enabled=true update_default_version=true`,
    aws_lb: `arn_suffix desync_mitigation_mode=defensive|strictest dns_name drop_invalid_header_fields=true
      enable_cross_zone_load_balancing=true enable_deletion_protection idle_timeout=30..4000`,
    aws_lb_target_group: `arn_suffix connection_termination=false deregistration_delay=30..3600
      health_check.enabled=true health_check.healthy_threshold=2..10 health_check.interval=5..60
      health_check.matcher=200|200-299|204
      health_check.path=/|/health|/healthz|/healthcheck|/live|/livez|/ping|/ready|/readyz|/status
      health_check.port=traffic-port health_check.protocol+=HTTP|HTTPS|TCP health_check.timeout=2..30
      health_check.unhealthy_threshold=2..10 health_check? ip_address_type=ipv4 ip_address_type?
      lambda_multi_value_headers_enabled load_balancer_arns load_balancing_algorithm_type
      load_balancing_algorithm_type? load_balancing_anomaly_mitigation load_balancing_cross_zone_enabled port+
      preserve_client_ip? protocol+ protocol_version+ proxy_protocol_v2=false slow_start=0..900 stickiness
      target_failover? target_group_health? target_health_state? target_type+ vpc_id+`,
    aws_rds_cluster: `backup_retention_period ca_certificate_valid_till copy_tags_to_snapshot=true
      deletion_protection enabled_cloudwatch_logs_exports endpoint engine_version_actual master_user_secret
      reader_endpoint serverlessv2_scaling_configuration.max_capacity=0.5..16
      serverlessv2_scaling_configuration.min_capacity=0.5..16`,
    aws_rds_cluster_instance: `apply_immediately? auto_minor_version_upgrade=true availability_zone?
      ca_cert_identifier? cluster_identifier copy_tags_to_snapshot db_parameter_group_name? db_subnet_group_name?
      dbi_resource_id endpoint engine engine_version? engine_version_actual identifier identifier_prefix
      instance_class:next_size kms_key_id monitoring_interval=0..60 monitoring_role_arn? network_type
      performance_insights_enabled=true performance_insights_enabled? performance_insights_retention_period? port
      preferred_backup_window? preferred_maintenance_window? promotion_tier publicly_accessible=false
      publicly_accessible? storage_encrypted writer`,
    aws_route53_record: 'fqdn ttl=30..86400',
    aws_s3_bucket: `acceleration_status? acl=private acl? bucket bucket_domain_name bucket_prefix bucket_region
      bucket_regional_domain_name cors_rule? force_destroy=false grant? hosted_zone_id lifecycle_rule? logging?
      object_lock_configuration? object_lock_enabled policy? replication_configuration? request_payer?
      server_side_encryption_configuration? versioning versioning? website? website_domain website_endpoint`,
    aws_s3_bucket_acl: 'access_control_policy? acl=private bucket expected_bucket_owner',
    aws_s3_bucket_lifecycle_configuration: `bucket expected_bucket_owner rule.abort_incomplete_multipart_upload
      rule.expiration rule.filter rule.id rule.noncurrent_version_expiration rule.prefix rule.status
      rule.transition.date rule.transition.days
      rule.transition.storage_class=STANDARD_IA|INTELLIGENT_TIERING|GLACIER_IR
      transition_default_minimum_object_size`,
    aws_s3_bucket_ownership_controls: 'bucket rule.object_ownership=BucketOwnerEnforced',
    aws_s3_bucket_public_access_block: `block_public_acls block_public_policy bucket ignore_public_acls
      restrict_public_buckets skip_destroy`,
    aws_s3_bucket_server_side_encryption_configuration: `bucket expected_bucket_owner
      rule.apply_server_side_encryption_by_default.kms_master_key_id:own_key
      rule.apply_server_side_encryption_by_default.kms_master_key_id:new_alias
      rule.apply_server_side_encryption_by_default.sse_algorithm=aws:kms|aws:kms:dsse|AES256
      rule.bucket_key_enabled`,
    aws_s3_bucket_versioning: `bucket expected_bucket_owner versioning_configuration.mfa_delete?
      versioning_configuration.status=Enabled`,
    aws_secretsmanager_secret: `force_overwrite_replica_secret=false kms_key_id:own_key kms_key_id:new_alias policy?
      recovery_window_in_days=7..30 replica?`,
    aws_security_group: `egress.cidr_blocks:private_range egress.description egress.from_port:one_port
      egress.ipv6_cidr_blocks:private_range egress.protocol:one_port egress.security_groups:own_group
      egress.self:one_port egress.to_port:one_port egress? ingress.cidr_blocks:private_range ingress.description
      ingress.from_port:one_port ingress.ipv6_cidr_blocks:private_range ingress.protocol:one_port
      ingress.security_groups:own_group ingress.self:one_port ingress.to_port:one_port ingress? owner_id
      revoke_rules_on_delete vpc_id`,
    aws_security_group_rule: `cidr_blocks:private_range from_port:one_port ipv6_cidr_blocks:private_range
      protocol:one_port security_group_id:one_port security_group_rule_id self:one_port source_security_group_id:own_group
      to_port:one_port type:one_port`,
    aws_sns_topic: `beginning_archive_time content_based_deduplication display_name fifo_throughput_scope?
      fifo_topic kms_master_key_id! kms_master_key_id:own_key kms_master_key_id:new_alias owner policy?
      signature_version? tracing_config tracing_config?`,
    aws_sqs_queue: `content_based_deduplication deduplication_scope deduplication_scope? delay_seconds=0..60
      fifo_queue fifo_throughput_limit fifo_throughput_limit? kms_data_key_reuse_period_seconds
      kms_data_key_reuse_period_seconds? kms_master_key_id:own_key kms_master_key_id:new_alias
      max_message_size=65536..1048576 message_retention_seconds=86400..1209600 policy? receive_wait_time_seconds
      redrive_allow_policy? redrive_policy:own_queue redrive_policy? sqs_managed_sse_enabled=true
      sqs_managed_sse_enabled? url visibility_timeout_seconds=10..43200`,
    aws_ssm_parameter: `allowed_pattern+ data_type+ has_value_wo insecure_value+ insecure_value? key_id?
      overwrite=false tier+ type+ value+ value? version`,
    aws_subnet: `assign_ipv6_address_on_creation=false availability_zone availability_zone_id cidr_block
      enable_dns64=false enable_resource_name_dns_a_record_on_launch enable_resource_name_dns_aaaa_record_on_launch
      ipv6_cidr_block? ipv6_cidr_block_association_id ipv6_native=false map_public_ip_on_launch=false owner_id
      private_dns_hostname_type_on_launch vpc_id`,
    aws_vpc: `assign_generated_ipv6_cidr_block=false cidr_block+ default_network_acl_id default_route_table_id
      default_security_group_id dhcp_options_id enable_dns_hostnames+ enable_dns_hostnames=true
      enable_dns_support=true enable_network_address_usage_metrics instance_tenancy=default ipv6_association_id
      ipv6_cidr_block? ipv6_cidr_block_network_border_group? main_route_table_id owner_id`,
    aws_vpc_security_group_egress_rule: `cidr_ipv4:private_range cidr_ipv6:private_range from_port:one_port
      ip_protocol:one_port referenced_security_group_id:own_group security_group_id:one_port security_group_rule_id
      to_port:one_port`,
    aws_vpc_security_group_ingress_rule: `cidr_ipv4:private_range cidr_ipv6:private_range from_port:one_port
      ip_protocol:one_port referenced_security_group_id:own_group security_group_id:one_port security_group_rule_id
      to_port:one_port`,
  },
  data: `
    aws_acm_certificate aws_ami aws_ami_ids aws_arn aws_autoscaling_group aws_autoscaling_groups
    aws_availability_zone aws_availability_zones aws_caller_identity aws_canonical_user_id aws_cloudfront_cache_policy
    aws_cloudfront_origin_request_policy aws_cloudwatch_log_group aws_cloudwatch_log_groups aws_db_instance
    aws_db_subnet_group aws_default_tags aws_dynamodb_table aws_ebs_volume aws_ec2_managed_prefix_list
    aws_ecr_authorization_token aws_ecr_image aws_ecr_repository aws_ecs_cluster aws_ecs_service
    aws_ecs_task_definition aws_efs_file_system aws_eip aws_eks_addon_version aws_eks_cluster aws_eks_cluster_auth
    aws_eks_clusters aws_eks_node_group aws_elasticache_replication_group aws_elb_service_account
    aws_iam_account_alias aws_iam_instance_profile aws_iam_openid_connect_provider aws_iam_policy
    aws_iam_policy_document aws_iam_role aws_iam_roles aws_iam_session_context aws_iam_user aws_instance aws_instances
    aws_internet_gateway aws_ip_ranges aws_kms_alias aws_kms_key aws_lambda_function aws_launch_template aws_lb
    aws_lb_listener aws_lb_target_group aws_nat_gateway aws_organizations_organization aws_partition aws_prefix_list
    aws_rds_cluster aws_rds_engine_version aws_region aws_regions aws_route53_zone aws_route_table aws_route_tables
    aws_s3_bucket aws_s3_object aws_secretsmanager_secret aws_security_group
    aws_security_groups aws_service aws_service_principal aws_sns_topic aws_sqs_queue
    aws_subnet aws_subnets aws_vpc aws_vpc_endpoint aws_vpcs
  `,
};
