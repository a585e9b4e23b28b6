import type { ProviderTable } from './entries';

/** Scaling numbers above the ranges here, and zero, are for a person: they cost a lot, or take a service down. */
export const AWS: ProviderTable = {
  names: ['aws'],
  common: 'id arn name name_prefix description tags tags_all region timeouts',
  types: {
    aws_acm_certificate: `domain_name subject_alternative_names validation_method=DNS key_algorithm early_renewal_duration
      options? validation_option? type status domain_validation_options renewal_summary renewal_eligibility pending_renewal
      not_before not_after validation_emails`,
    aws_acm_certificate_validation: 'certificate_arn validation_record_fqdns',
    aws_appautoscaling_policy: `policy_type resource_id scalable_dimension service_namespace step_scaling_policy_configuration
      target_tracking_scaling_policy_configuration alarm_arns`,
    aws_appautoscaling_target:
      'max_capacity=1..100 min_capacity=1..100 resource_id+ scalable_dimension+ service_namespace+',
    aws_autoscaling_group: `min_size=1..100 max_size=1..100 desired_capacity=1..100 default_cooldown default_instance_warmup
      health_check_grace_period health_check_type min_elb_capacity wait_for_elb_capacity wait_for_capacity_timeout
      capacity_rebalance enabled_metrics metrics_granularity tag predicted_capacity warm_pool_size`,
    aws_autoscaling_policy: `adjustment_type autoscaling_group_name cooldown estimated_instance_warmup enabled
      metric_aggregation_type min_adjustment_magnitude policy_type scaling_adjustment step_adjustment
      target_tracking_configuration`,
    aws_autoscaling_schedule: `autoscaling_group_name scheduled_action_name min_size=-1|1..100 max_size=-1|1..100
      desired_capacity=-1|1..100 recurrence start_time end_time time_zone`,
    aws_cloudwatch_composite_alarm: `alarm_name alarm_description alarm_rule+ actions_enabled alarm_actions=arn:aws:sns:*
      ok_actions=arn:aws:sns:* insufficient_data_actions=arn:aws:sns:*`,
    aws_cloudwatch_dashboard: 'dashboard_name dashboard_body dashboard_arn',
    aws_cloudwatch_event_bus: '',
    aws_cloudwatch_event_rule:
      'event_bus_name+ event_pattern+ schedule_expression+ state+ is_enabled+ force_destroy=false',
    aws_cloudwatch_log_group:
      'retention_in_days log_group_class+ skip_destroy deletion_protection_enabled kms_key_id=alias/*',
    aws_cloudwatch_log_metric_filter: 'log_group_name+ pattern+ metric_transformation+ apply_on_transformed_logs+',
    aws_cloudwatch_log_stream: 'log_group_name',
    aws_cloudwatch_metric_alarm: `alarm_name alarm_description actions_enabled alarm_actions=arn:aws:sns:*
      ok_actions=arn:aws:sns:* insufficient_data_actions=arn:aws:sns:* comparison_operator+ datapoints_to_alarm+ dimensions+
      evaluate_low_sample_count_percentiles evaluate_low_sample_count_percentiles? evaluation_periods+ extended_statistic+
      metric_name+ metric_query+ namespace+ period+ statistic+ threshold+ threshold_metric_id+ treat_missing_data+ unit+`,
    aws_cloudwatch_query_definition: 'log_group_names query_string query_definition_id',
    aws_db_instance: `instance_class allocated_storage max_allocated_storage iops storage_throughput storage_type
      auto_minor_version_upgrade=true backup_retention_period backup_window maintenance_window copy_tags_to_snapshot=true
      deletion_protection enabled_cloudwatch_logs_exports monitoring_interval=1..60 multi_az=true
      performance_insights_enabled=true performance_insights_retention_period address endpoint status engine_version_actual
      latest_restorable_time listener_endpoint replicas resource_id hosted_zone_id`,
    aws_dynamodb_table: `attribute+ billing_mode deletion_protection_enabled global_secondary_index+ local_secondary_index+
      hash_key+ range_key+ point_in_time_recovery.enabled=true point_in_time_recovery.recovery_period_in_days
      point_in_time_recovery? read_capacity=1..1000 read_capacity? write_capacity=1..1000 write_capacity?
      server_side_encryption.enabled=true server_side_encryption? stream_enabled=false stream_view_type? stream_arn
      stream_label table_class ttl warm_throughput?`,
    aws_ebs_volume: `availability_zone+ encrypted final_snapshot iops=1..16000 iops? multi_attach_enabled=false
      kms_key_id=alias/* size=1..1000 snapshot_id? throughput type create_time throughput? volume_initialization_rate?`,
    aws_ec2_tag: 'key resource_id value',
    aws_ecr_repository: `encryption_configuration.encryption_type force_delete=false image_scanning_configuration
      image_tag_mutability registry_id repository_url`,
    aws_ecs_cluster: 'setting.name setting.value=enabled|enhanced setting?',
    aws_ecs_service: `desired_count=1..100 deployment_maximum_percent deployment_minimum_healthy_percent
      enable_ecs_managed_tags health_check_grace_period_seconds propagate_tags force_new_deployment wait_for_steady_state`,
    aws_efs_file_system: `creation_token encrypted kms_key_id=alias/* performance_mode+ throughput_mode=bursting|elastic
      protection? availability_zone_id? availability_zone_name? dns_name number_of_mount_targets owner_id size_in_bytes`,
    aws_eip: `domain=vpc instance? network_interface? public_ipv4_pool? network_border_group? address? allocation_id
      association_id carrier_ip customer_owned_ip private_dns private_ip ptr_record public_dns public_ip vpc?`,
    aws_eks_node_group: `scaling_config.desired_size=1..100 scaling_config.max_size=1..100 scaling_config.min_size=0..100
      update_config`,
    aws_elasticache_replication_group: `node_type num_cache_clusters=2..20 automatic_failover_enabled=true
      multi_az_enabled=true auto_minor_version_upgrade=true snapshot_retention_limit snapshot_window maintenance_window
      member_clusters`,
    aws_iam_group: 'path unique_id',
    aws_iam_group_policy: 'group policy',
    aws_iam_instance_profile: 'path role+ create_date unique_id',
    aws_iam_policy: 'path policy attachment_count policy_id delay_after_policy_creation_in_ms',
    aws_iam_role_policy: 'policy role',
    aws_iam_role_policy_attachment: 'policy_arn role',
    aws_iam_user: 'force_destroy=false path permissions_boundary unique_id',
    aws_iam_user_policy: 'policy user',
    aws_instance: `instance_type disable_api_termination disable_api_stop ebs_optimized=true monitoring=true volume_tags
      metadata_options.http_tokens=required metadata_options.instance_metadata_tags root_block_device.tags
      root_block_device.tags_all root_block_device.volume_size=1..1000 root_block_device.volume_type instance_state
      private_dns public_dns public_ip`,
    aws_kinesis_stream: `encryption_type=KMS enforce_consumer_deletion=false kms_key_id=alias/* retention_period
      shard_count=1..20 shard_level_metrics stream_mode_details stream_mode_details? max_record_size_in_kib?`,
    aws_kms_alias: 'target_key_id+ target_key_arn',
    aws_kms_key: `bypass_policy_lockout_safety_check=false customer_master_key_spec=SYMMETRIC_DEFAULT
      deletion_window_in_days=7..30 enable_key_rotation=true is_enabled=true key_usage+ multi_region=false policy?
      rotation_period_in_days rotation_period_in_days? key_id`,
    aws_lambda_function: `ephemeral_storage.size memory_size publish reserved_concurrent_executions=-1|1..1000
      timeout=1..900 code_sha256 invoke_arn last_modified qualified_arn qualified_invoke_arn source_code_size version`,
    aws_lambda_provisioned_concurrency_config:
      'function_name qualifier provisioned_concurrent_executions=1..100 skip_destroy',
    aws_launch_template: `instance_type ebs_optimized=true monitoring.enabled=true tag_specifications
      update_default_version=true metadata_options.http_tokens=required latest_version`,
    aws_lb: `enable_cross_zone_load_balancing=true enable_deletion_protection drop_invalid_header_fields=true
      desync_mitigation_mode=defensive|strictest idle_timeout dns_name arn_suffix`,
    aws_lb_target_group: `connection_termination=false deregistration_delay health_check ip_address_type=ipv4
      lambda_multi_value_headers_enabled load_balancing_algorithm_type load_balancing_anomaly_mitigation
      load_balancing_cross_zone_enabled port protocol protocol_version proxy_protocol_v2=false slow_start stickiness
      target_type vpc_id preserve_client_ip? target_failover? target_group_health? target_health_state? health_check?
      ip_address_type? load_balancing_algorithm_type? arn_suffix load_balancer_arns`,
    aws_rds_cluster: `backup_retention_period copy_tags_to_snapshot=true deletion_protection
      enabled_cloudwatch_logs_exports preferred_backup_window preferred_maintenance_window
      serverlessv2_scaling_configuration.min_capacity=0.5..64 serverlessv2_scaling_configuration.max_capacity=0.5..64`,
    aws_rds_cluster_instance: `auto_minor_version_upgrade=true cluster_identifier copy_tags_to_snapshot engine
      identifier identifier_prefix instance_class performance_insights_enabled=true promotion_tier publicly_accessible=false
      engine_version? apply_immediately? availability_zone? ca_cert_identifier? db_parameter_group_name? db_subnet_group_name?
      monitoring_interval=0..60 monitoring_role_arn? performance_insights_enabled? performance_insights_retention_period?
      preferred_backup_window? preferred_maintenance_window? publicly_accessible? dbi_resource_id endpoint
      engine_version_actual kms_key_id network_type port storage_encrypted writer`,
    aws_route53_record: 'alias allow_overwrite records ttl type=A|AAAA|CNAME zone_id fqdn',
    aws_s3_bucket: `acceleration_status? acl=private acl? bucket bucket_prefix cors_rule? force_destroy=false grant?
      lifecycle_rule? logging? object_lock_configuration? object_lock_enabled policy? replication_configuration?
      request_payer? server_side_encryption_configuration? versioning versioning? website? website_domain website_endpoint
      bucket_domain_name bucket_region bucket_regional_domain_name hosted_zone_id`,
    aws_s3_bucket_acl: 'acl=private bucket expected_bucket_owner access_control_policy?',
    aws_s3_bucket_lifecycle_configuration: `bucket expected_bucket_owner rule.id rule.status rule.prefix rule.filter
      rule.abort_incomplete_multipart_upload rule.expiration rule.noncurrent_version_expiration
      rule.transition.days rule.transition.date rule.transition.storage_class=STANDARD_IA|INTELLIGENT_TIERING|GLACIER_IR
      transition_default_minimum_object_size`,
    aws_s3_bucket_ownership_controls: 'bucket rule.object_ownership=BucketOwnerEnforced',
    aws_s3_bucket_public_access_block: `block_public_acls block_public_policy bucket ignore_public_acls
      restrict_public_buckets`,
    aws_s3_bucket_server_side_encryption_configuration: `bucket expected_bucket_owner rule.bucket_key_enabled
      rule.apply_server_side_encryption_by_default.sse_algorithm=aws:kms|aws:kms:dsse|AES256
      rule.apply_server_side_encryption_by_default.kms_master_key_id=alias/*`,
    aws_s3_bucket_versioning:
      'bucket expected_bucket_owner versioning_configuration.status=Enabled versioning_configuration.mfa_delete?',
    aws_secretsmanager_secret:
      'force_overwrite_replica_secret=false kms_key_id=alias/* policy? recovery_window_in_days=7..30 replica?',
    aws_security_group: `egress.cidr_blocks egress.description egress.from_port egress.ipv6_cidr_blocks egress.protocol
      egress.security_groups egress.self egress.to_port egress? ingress.cidr_blocks ingress.description ingress.from_port
      ingress.ipv6_cidr_blocks ingress.protocol ingress.security_groups ingress.self ingress.to_port ingress?
      revoke_rules_on_delete vpc_id owner_id`,
    aws_security_group_rule: `cidr_blocks from_port ipv6_cidr_blocks protocol security_group_id self
      source_security_group_id to_port type security_group_rule_id`,
    aws_sns_topic: `beginning_archive_time content_based_deduplication display_name fifo_throughput_scope?
      fifo_topic kms_master_key_id=alias/* policy? signature_version? tracing_config tracing_config? owner`,
    aws_sqs_queue: `content_based_deduplication deduplication_scope deduplication_scope? delay_seconds fifo_queue
      fifo_throughput_limit fifo_throughput_limit? kms_data_key_reuse_period_seconds kms_data_key_reuse_period_seconds?
      kms_master_key_id=alias/* max_message_size message_retention_seconds policy? receive_wait_time_seconds
      redrive_allow_policy redrive_policy sqs_managed_sse_enabled visibility_timeout_seconds url`,
    aws_ssm_parameter:
      'data_type+ insecure_value+ insecure_value? key_id? tier+ type+ value+ value? version has_value_wo',
    aws_subnet: `assign_ipv6_address_on_creation=false availability_zone availability_zone_id cidr_block
      enable_dns64=false enable_resource_name_dns_a_record_on_launch enable_resource_name_dns_aaaa_record_on_launch
      ipv6_cidr_block? ipv6_native=false map_public_ip_on_launch=false private_dns_hostname_type_on_launch vpc_id
      ipv6_cidr_block_association_id owner_id`,
    aws_vpc: `assign_generated_ipv6_cidr_block=false cidr_block+ enable_dns_hostnames enable_dns_support
      enable_network_address_usage_metrics instance_tenancy=default ipv6_cidr_block? ipv6_cidr_block_network_border_group?
      default_network_acl_id default_route_table_id default_security_group_id dhcp_options_id ipv6_association_id
      main_route_table_id owner_id`,
    aws_vpc_security_group_egress_rule: `cidr_ipv4 cidr_ipv6 from_port ip_protocol referenced_security_group_id
      security_group_id to_port security_group_rule_id`,
    aws_vpc_security_group_ingress_rule: `cidr_ipv4 cidr_ipv6 from_port ip_protocol referenced_security_group_id
      security_group_id to_port security_group_rule_id`,
  },
  data: `
    aws_acm_certificate aws_ami aws_ami_ids aws_arn aws_autoscaling_group aws_autoscaling_groups aws_availability_zone
    aws_availability_zones aws_caller_identity aws_canonical_user_id aws_cloudfront_cache_policy
    aws_cloudfront_origin_request_policy aws_cloudwatch_log_group aws_cloudwatch_log_groups aws_db_instance
    aws_db_subnet_group aws_default_tags aws_dynamodb_table aws_ebs_volume aws_ec2_managed_prefix_list
    aws_ecr_authorization_token aws_ecr_image aws_ecr_repository aws_ecs_cluster aws_ecs_service aws_ecs_task_definition
    aws_efs_file_system aws_eip aws_eks_addon_version aws_eks_cluster aws_eks_cluster_auth aws_eks_clusters
    aws_eks_node_group aws_elasticache_replication_group aws_elb_service_account aws_iam_account_alias aws_iam_instance_profile
    aws_iam_openid_connect_provider aws_iam_policy aws_iam_policy_document aws_iam_role aws_iam_roles aws_iam_session_context
    aws_iam_user aws_instance aws_instances aws_internet_gateway aws_ip_ranges aws_kms_alias aws_kms_key aws_lambda_function
    aws_launch_template aws_lb aws_lb_listener aws_lb_target_group aws_nat_gateway aws_organizations_organization aws_partition
    aws_prefix_list aws_rds_cluster aws_rds_engine_version aws_region aws_regions aws_route53_zone aws_route_table
    aws_route_tables aws_s3_bucket aws_s3_object aws_secretsmanager_secret aws_secretsmanager_secret_version
    aws_security_group aws_security_groups aws_service aws_service_principal aws_sns_topic aws_sqs_queue aws_ssm_parameter
    aws_ssm_parameters_by_path aws_subnet aws_subnets aws_vpc aws_vpc_endpoint aws_vpcs
  `,
};
