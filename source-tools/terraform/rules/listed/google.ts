import type { ProviderTable } from './entries';

/** Ordinary sizes. Others cost a lot. */
const MACHINES =
  'e2-*|f1-micro|g1-small|n1-standard-1|n1-standard-2|n1-standard-4|n2-standard-2|n2-standard-4|n2d-standard-2|n2d-standard-4';
const TIERS = 'db-f1-micro|db-g1-small|db-custom-1-*|db-custom-2-*|db-custom-4-*';

/**
 * `tags` are not common attributes: firewall rules of Google read those of machines. Members of roles are not listed, because they
 * can be of another project or organization.
 */
export const GOOGLE: ProviderTable = {
  names: ['google', 'google-beta'],
  common: `id name description display_name labels effective_labels terraform_labels timeouts
    project:known_project project? region:own_region region? zone:own_region zone? location:own_region location?`,
  types: {
    google_artifact_registry_repository: `cleanup_policy_dry_run=true create_time docker_config
      format=DOCKER|MAVEN|NPM|PYTHON|APT|YUM|GO|GENERIC mode=STANDARD_REPOSITORY repository_id update_time
      vulnerability_scanning_config?`,
    google_bigquery_dataset: `access? creation_time dataset_id default_collation? default_partition_expiration_ms
      default_table_expiration_ms delete_contents_on_destroy=false etag friendly_name is_case_insensitive
      last_modified_time max_time_travel_hours? self_link storage_billing_model?`,
    google_bigquery_table: `clustering creation_time dataset_id deletion_protection etag expiration_time
      expiration_time? friendly_name generated_schema_columns ignore_auto_generated_schema last_modified_time
      max_staleness? num_bytes num_long_term_bytes num_rows schema+ self_link table_id table_metadata_view?
      time_partitioning type`,
    google_cloud_run_v2_service: `client client_version conditions create_time creator delete_time
      effective_annotations etag expire_time generation last_modifier latest_created_revision latest_ready_revision
      observed_generation reconciling template.containers.image~ template.scaling.max_instance_count=1..100
      template.scaling.min_instance_count=0..100 terminal_condition traffic_statuses uid update_time uri urls`,
    google_cloud_tasks_queue: 'rate_limits+ rate_limits? retry_config+ retry_config?',
    google_compute_address: `address? address_type creation_timestamp ip_version? ipv6_endpoint_type label_fingerprint
      network_tier network_tier? prefix_length? purpose? self_link subnetwork subnetwork? users`,
    google_compute_autoscaler: `autoscaling_policy.cooldown_period
      autoscaling_policy.cpu_utilization.predictive_method autoscaling_policy.cpu_utilization.target=0.3..0.9
      autoscaling_policy.max_replicas=1..100 autoscaling_policy.min_replicas=1..100 autoscaling_policy.mode=ON
      creation_timestamp self_link target+`,
    google_compute_disk: `access_mode? creation_timestamp disk_id enable_confidential_compute? guest_os_features?
      label_fingerprint last_attach_timestamp last_detach_timestamp licenses? physical_block_size_bytes?
      provisioned_iops? provisioned_throughput? self_link size=1..1000 size? source_disk_id source_image_id
      source_instant_snapshot_id source_snapshot_id type type? users`,
    google_compute_firewall: `allow.ports+=1..65535 allow.protocol+:with_ports creation_timestamp
      destination_ranges+:private_prefix destination_ranges? direction+=INGRESS disabled+=false enable_logging?
      network+ priority+=1000 self_link source_ranges+:private_prefix source_ranges? source_tags+
      target_service_accounts+ target_tags+`,
    google_compute_instance: `allow_stopping_for_update=true cpu_platform creation_timestamp current_status
      deletion_protection instance_id label_fingerprint machine_type=${MACHINES} metadata_fingerprint self_link
      tags_fingerprint`,
    google_compute_instance_group_manager: `creation_timestamp fingerprint instance_group instance_group_manager_id
      operation self_link status target_size=1..100 wait_for_instances wait_for_instances_status`,
    google_compute_network: `auto_create_subnetworks=false bgp_always_compare_med? bgp_best_path_selection_mode?
      bgp_inter_region_cost? delete_default_routes_on_create enable_ula_internal_ipv6=false gateway_ipv4
      internal_ipv6_range? mtu+ mtu? network_firewall_policy_enforcement_order=AFTER_CLASSIC_FIREWALL network_id
      numeric_id routing_mode+ routing_mode? self_link`,
    google_compute_region_autoscaler: `autoscaling_policy.cooldown_period
      autoscaling_policy.cpu_utilization.predictive_method autoscaling_policy.cpu_utilization.target=0.3..0.9
      autoscaling_policy.max_replicas=1..100 autoscaling_policy.min_replicas=1..100 autoscaling_policy.mode=ON
      creation_timestamp self_link target+`,
    google_compute_region_instance_group_manager: `creation_timestamp fingerprint instance_group
      instance_group_manager_id self_link status target_size=1..100 wait_for_instances wait_for_instances_status`,
    google_compute_subnetwork: `creation_timestamp enable_flow_logs? external_ipv6_prefix? fingerprint gateway_address
      internal_ipv6_prefix ip_cidr_range+ ip_collection? ipv6_access_type? ipv6_cidr_range ipv6_gce_endpoint
      log_config network+ private_ip_google_access=true private_ip_google_access? private_ipv6_google_access?
      purpose=PRIVATE purpose? secondary_ip_range+ secondary_ip_range? self_link stack_type=IPV4_ONLY stack_type?
      state subnetwork_id`,
    google_container_node_pool: `autoscaling.location_policy autoscaling.max_node_count=1..100
      autoscaling.min_node_count=0..100 autoscaling.total_max_node_count=1..100
      autoscaling.total_min_node_count=0..100 instance_group_urls managed_instance_group_urls
      management.auto_repair=true management.auto_upgrade=true node_count=1..100 operation`,
    google_dns_record_set: 'ttl=30..86400',
    google_kms_crypto_key: `crypto_key_backend? destroy_scheduled_duration? import_only=false import_only? key_ring+
      primary purpose+ rotation_period skip_initial_version_creation=false version_template?`,
    google_kms_key_ring: '',
    google_logging_metric: `bucket_options+ disabled=false filter+ label_extractors+ metric_descriptor+
      metric_descriptor? value_extractor+`,
    google_monitoring_alert_policy: `alert_strategy+ combiner+ conditions+ creation_record documentation enabled
      notification_channels severity user_labels`,
    google_monitoring_dashboard: 'dashboard_json=**',
    google_pubsub_subscription: `ack_deadline_seconds ack_deadline_seconds? enable_exactly_once_delivery
      enable_message_ordering expiration_policy.ttl+=2678400s expiration_policy? filter+ message_retention_duration
      retain_acked_messages retry_policy topic+:own_project`,
    google_pubsub_topic: `message_retention_duration message_storage_policy?
      schema_settings+`,
    google_secret_manager_secret: `annotations create_time deletion_protection effective_annotations expire_time?
      replication+ secret_id version_destroy_ttl?`,
    google_service_account: 'account_id create_ignore_already_exists=false disabled=false email member unique_id',
    google_sql_database: 'charset charset? collation collation? deletion_policy instance self_link',
    google_sql_database_instance: `available_maintenance_versions connection_name deletion_protection dns_name
      dns_names first_ip_address ip_address private_ip_address psc_service_attachment_link public_ip_address
      server_ca_cert service_account_email_address settings.availability_type=REGIONAL
      settings.backup_configuration.backup_retention_settings settings.backup_configuration.enabled
      settings.backup_configuration.point_in_time_recovery_enabled settings.backup_configuration.start_time
      settings.backup_configuration.transaction_log_retention_days settings.deletion_protection_enabled
      settings.disk_autoresize=true settings.disk_autoresize_limit=0|10..2000 settings.disk_size=10..2000
      settings.insights_config settings.tier=${TIERS} settings.user_labels settings.version`,
    google_storage_bucket: `default_event_based_hold=false enable_object_retention force_destroy=false
      lifecycle_rule.action.storage_class=NEARLINE|COLDLINE
      lifecycle_rule.action.type=Delete|AbortIncompleteMultipartUpload|SetStorageClass lifecycle_rule.condition
      project_number public_access_prevention=enforced public_access_prevention? requester_pays=false rpo?
      self_link soft_delete_policy? storage_class time_created uniform_bucket_level_access=true
      uniform_bucket_level_access? updated url versioning versioning? website?`,
  },
  data: `
    google_artifact_registry_repository google_client_config
    google_client_openid_userinfo google_compute_address google_compute_default_service_account
    google_compute_global_address google_compute_image google_compute_instance google_compute_instance_group
    google_compute_network google_compute_regions google_compute_ssl_certificate google_compute_subnetwork
    google_compute_zones google_container_cluster google_container_engine_versions google_dns_managed_zone
    google_folder google_iam_policy google_iam_role google_kms_crypto_key google_kms_key_ring
    google_monitoring_notification_channel google_netblock_ip_ranges google_organization google_project
    google_projects google_pubsub_topic google_secret_manager_secret
    google_service_account google_sql_database_instance google_storage_bucket google_storage_project_service_account
  `,
};
