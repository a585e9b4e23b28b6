import type { ProviderTable } from './entries';

/** Annotations and labels are not listed: controllers, selectors and policies act on them. */
const METADATA = 'metadata.generation metadata.resource_version metadata.uid metadata.name+ metadata.namespace+';

/**
 * What may change of a workload: how many copies run, how fast an update proceeds, and the tag or digest of an image. Anything
 * else, such as a security context, a volume, an environment variable or another container, is not listed.
 */
const PODS = `${METADATA} spec.replicas=1..100 spec.min_ready_seconds=0..300 spec.revision_history_limit
  spec.template.spec.container.image~ spec.template.spec.init_container.image~ wait_for_rollout`;

const AUTOSCALER = `${METADATA} spec.min_replicas=1..100 spec.max_replicas=1..100
  spec.metric.resource.name+=cpu|memory spec.metric.resource.target.average_utilization=30..90
  spec.metric.resource.target.type+=Utilization spec.metric.type+=Resource spec.scale_target_ref+
  spec.target_cpu_utilization_percentage=30..90`;

const CRON_JOB = `${METADATA} spec.timezone+ spec.suspend=false
  spec.job_template.spec.template.spec.container.image~`;

/** A selector is not listed: a new one can take the calls of other services. */
const SERVICE = `${METADATA} spec.allocate_load_balancer_node_ports spec.cluster_ip spec.cluster_ips
  spec.external_traffic_policy spec.health_check_node_port spec.internal_traffic_policy spec.ip_families
  spec.ip_family_policy spec.port+ spec.publish_not_ready_addresses=false spec.session_affinity
  spec.session_affinity_config spec.type=ClusterIP wait_for_load_balancer status`;

const SERVICE_ACCOUNT = `${METADATA} automount_service_account_token+ default_secret_name`;

export const KUBERNETES: ProviderTable = {
  names: ['kubernetes'],
  common: 'id timeouts',
  types: {
    kubernetes_cron_job_v1: CRON_JOB,
    kubernetes_daemon_set_v1: PODS,
    kubernetes_daemonset: PODS,
    kubernetes_deployment: PODS,
    kubernetes_deployment_v1: PODS,
    kubernetes_horizontal_pod_autoscaler: AUTOSCALER,
    kubernetes_horizontal_pod_autoscaler_v1: AUTOSCALER,
    kubernetes_horizontal_pod_autoscaler_v2: AUTOSCALER,
    kubernetes_namespace: `${METADATA} wait_for_default_service_account`,
    kubernetes_namespace_v1: `${METADATA} wait_for_default_service_account`,
    kubernetes_service: SERVICE,
    kubernetes_service_account: SERVICE_ACCOUNT,
    kubernetes_service_account_v1: SERVICE_ACCOUNT,
    kubernetes_service_v1: SERVICE,
    kubernetes_stateful_set: PODS,
    kubernetes_stateful_set_v1: PODS,
  },
  data: `
    kubernetes_all_namespaces kubernetes_config_map kubernetes_config_map_v1 kubernetes_ingress_v1 kubernetes_namespace
    kubernetes_namespace_v1 kubernetes_nodes kubernetes_server_version
    kubernetes_service kubernetes_service_account kubernetes_service_account_v1 kubernetes_service_v1
    kubernetes_storage_class kubernetes_storage_class_v1
  `,
};
