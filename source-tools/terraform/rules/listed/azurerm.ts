import type { ProviderTable } from './entries';

/** A person checks where a name points, also a new name: clients send passwords there. */
const RECORD = 'fqdn ttl=30..86400';
/** Ordinary sizes. Others cost a lot. */
const SIZES = 'Standard_B*|Standard_D2*|Standard_D4*|Standard_D8*|Standard_E2*|Standard_E4*|Standard_F2*|Standard_F4*';

const MACHINE = `size=${SIZES} private_ip_address private_ip_addresses public_ip_address public_ip_addresses virtual_machine_id`;

/** Assignments of roles are not listed: a plan does not show whose identity the principal is. */
export const AZURERM: ProviderTable = {
  names: ['azurerm'],
  common: 'id name description display_name tags location:own_region resource_group_name timeouts',
  types: {
    azurerm_application_insights: `app_id application_type connection_string daily_data_cap_in_gb+
      daily_data_cap_in_gb? daily_data_cap_notifications_disabled+ daily_data_cap_notifications_disabled?
      disable_ip_masking=false force_customer_storage_for_profiler=false instrumentation_key
      internet_ingestion_enabled+ internet_query_enabled+ local_authentication_disabled+ retention_in_days
      sampling_percentage=100 workspace_id+`,
    azurerm_availability_set: `managed platform_fault_domain_count platform_update_domain_count
      proximity_placement_group_id`,
    azurerm_dns_a_record: RECORD,
    azurerm_dns_aaaa_record: RECORD,
    azurerm_dns_cname_record: RECORD,
    azurerm_eventhub: `message_retention=1..90 namespace_id+ namespace_name+ partition_count=1..32 partition_ids
      retention_description? status=Active`,
    azurerm_key_vault: 'purge_protection_enabled soft_delete_retention_days',
    azurerm_key_vault_secret: `content_type+ expiration_date+ key_vault_id+ not_before_date+ resource_id
      resource_versionless_id value+ value_wo+ value_wo_version+ version versionless_id`,
    azurerm_kubernetes_cluster: `default_node_pool.max_count=1..100 default_node_pool.min_count=1..100
      default_node_pool.node_count=1..100 default_node_pool.tags`,
    azurerm_kubernetes_cluster_node_pool: 'max_count=1..100 min_count=0..100 node_count=1..100',
    azurerm_linux_virtual_machine: MACHINE,
    azurerm_linux_virtual_machine_scale_set: `instances=1..100 sku=${SIZES} unique_id`,
    azurerm_log_analytics_workspace: `allow_resource_only_permissions+ daily_quota_gb=-1 internet_ingestion_enabled+
      internet_query_enabled+ local_authentication_disabled+ local_authentication_enabled+ primary_shared_key
      reservation_capacity_in_gb_per_day? retention_in_days retention_in_days? secondary_shared_key sku+ sku?
      workspace_id`,
    azurerm_managed_disk: `create_option=Empty disk_iops_read_only? disk_iops_read_write? disk_mbps_read_only?
      disk_mbps_read_write? disk_size_gb=1..1024 logical_sector_size? max_shares?
      optimized_frequent_attach_enabled=false performance_plus_enabled=false public_network_access_enabled=false
      source_uri? storage_account_type=Standard_LRS|StandardSSD_LRS|StandardSSD_ZRS|Premium_LRS|Premium_ZRS tier?
      zone`,
    azurerm_monitor_autoscale_setting: `profile.capacity.default=1..100 profile.capacity.maximum=1..100
      profile.capacity.minimum=1..100`,
    azurerm_monitor_metric_alert: `action.action_group_id+ auto_mitigate criteria+ dynamic_criteria+ enabled
      frequency+ scopes+ severity+ target_resource_location+ target_resource_location? target_resource_type+
      target_resource_type? window_size+`,
    azurerm_mssql_database: `max_size_gb=1..1024
      sku_name=Basic|S0|S1|S2|S3|GP_S_Gen5_1|GP_S_Gen5_2|GP_S_Gen5_4|GP_Gen5_2|GP_Gen5_4`,
    azurerm_network_security_group: 'security_rule?',
    azurerm_network_security_rule: `access+=Allow destination_address_prefix+ destination_address_prefixes+
      destination_application_security_group_ids+ destination_port_range+=1..65535
      destination_port_ranges+=1..65535 direction+=Inbound network_security_group_name+ priority+ protocol+=Tcp|Udp
      source_address_prefix+:private_prefix source_address_prefixes+:private_prefix
      source_application_security_group_ids+ source_port_range+ source_port_ranges+`,
    azurerm_postgresql_flexible_server: `auto_grow_enabled=true backup_retention_days fqdn
      sku_name=B_Standard_B1ms|B_Standard_B2s|B_Standard_B2ms|GP_Standard_D2*|GP_Standard_D4*
      storage_mb=32768..1048576 storage_tier?`,
    azurerm_postgresql_flexible_server_database: 'charset collation server_id',
    azurerm_private_dns_a_record: RECORD,
    azurerm_private_dns_cname_record: RECORD,
    azurerm_public_ip: `allocation_method ddos_protection_mode=VirtualNetworkInherited|Enabled fqdn
      idle_timeout_in_minutes ip_address ip_version sku sku_tier zones`,
    azurerm_resource_group: '',
    azurerm_service_plan: `kind maximum_elastic_worker_count? os_type+ per_site_scaling_enabled reserved
      sku_name=B1|B2|B3|S1|S2|S3|P0v3|P1v3 worker_count=1..30 worker_count? zone_balancing_enabled`,
    azurerm_servicebus_queue: `auto_delete_on_idle? batched_operations_enabled
      dead_lettering_on_message_expiration+ dead_lettering_on_message_expiration=true default_message_ttl?
      duplicate_detection_history_time_window duplicate_detection_history_time_window? express_enabled=false
      lock_duration+ lock_duration? max_delivery_count=3..100 max_message_size_in_kilobytes? max_size_in_megabytes+
      max_size_in_megabytes? namespace_id+ partitioning_enabled requires_duplicate_detection requires_session
      status=Active`,
    azurerm_servicebus_topic: `auto_delete_on_idle? batched_operations_enabled default_message_ttl?
      duplicate_detection_history_time_window? express_enabled=false max_message_size_in_kilobytes?
      max_size_in_megabytes+ max_size_in_megabytes? namespace_id+ partitioning_enabled requires_duplicate_detection
      status=Active support_ordering`,
    azurerm_storage_account: `access_tier=Hot|Cool access_tier? account_kind=StorageV2 account_replication_type+
      account_tier+ allow_nested_items_to_be_public blob_properties.container_delete_retention_policy
      blob_properties.delete_retention_policy blob_properties.versioning_enabled blob_properties?
      cross_tenant_replication_enabled=false default_to_oauth_authentication dns_endpoint_type=Standard
      https_traffic_only_enabled infrastructure_encryption_enabled is_hns_enabled large_file_share_enabled?
      local_user_enabled+ min_tls_version=TLS1_2|TLS1_3 network_rules? nfsv3_enabled=false primary_location
      provisioned_billing_model_version? public_network_access_enabled queue_encryption_key_type queue_properties?
      routing? secondary_location sftp_enabled=false share_properties? shared_access_key_enabled
      table_encryption_key_type`,
    azurerm_storage_container: `container_access_type default_encryption_scope? encryption_scope_override_enabled
      has_immutability_policy has_legal_hold metadata metadata? resource_manager_id storage_account_id+
      storage_account_name+`,
    azurerm_storage_queue: 'metadata resource_manager_id storage_account_id+ storage_account_name+ url',
    azurerm_subnet: `address_prefixes+ default_outbound_access_enabled+ private_endpoint_network_policies+
      private_link_service_network_policies_enabled+ virtual_network_name+`,
    azurerm_user_assigned_identity: 'client_id principal_id tenant_id',
    azurerm_virtual_network: 'address_space+ dns_servers? guid private_endpoint_vnet_policies subnet?',
    azurerm_windows_virtual_machine: MACHINE,
  },
  data: `
    azurerm_application_insights azurerm_availability_set azurerm_client_config
    azurerm_container_registry azurerm_dns_zone azurerm_key_vault azurerm_key_vault_certificate azurerm_key_vault_key
    azurerm_kubernetes_cluster azurerm_location azurerm_log_analytics_workspace
    azurerm_monitor_action_group azurerm_mssql_database azurerm_mssql_server azurerm_network_interface
    azurerm_network_security_group azurerm_postgresql_flexible_server azurerm_private_dns_zone azurerm_public_ip
    azurerm_public_ips azurerm_resource_group azurerm_resources azurerm_role_definition azurerm_service_plan
    azurerm_storage_account azurerm_storage_container azurerm_subnet azurerm_subscription azurerm_subscriptions
    azurerm_user_assigned_identity azurerm_virtual_machine azurerm_virtual_network
  `,
};
