import type { ProviderTable } from './entries';

/** Apply holds the lock of the state during a pause. */
const PAUSES = '5s|10s|15s|20s|30s|45s|60s|90s|120s|1m|2m|5m';

/**
 * Providers that compute values. `local_file` and `local_sensitive_file` are not listed: they write any file of the machine that
 * applies the plan, and so can run a program there, and as data sources they read any file. Nor are `tls_certificate` and
 * `terraform_remote_state`, which connect to any host, and `archive_file`, which writes a file.
 */
export const SMALL: readonly ProviderTable[] = [
  {
    names: ['random'],
    common: 'id keepers result',
    types: {
      random_bytes: 'base64 hex length',
      random_id: 'b64_std b64_url byte_length dec hex prefix',
      random_integer: 'max min seed',
      random_password: `bcrypt_hash length=12..1000 lower min_lower min_numeric min_special min_upper number numeric
        override_special special upper`,
      random_pet: 'length prefix separator',
      random_shuffle: 'input result_count seed',
      random_string: `length lower min_lower min_numeric min_special min_upper number numeric override_special special
        upper`,
      random_uuid: '',
    },
    data: 'random_password',
  },
  { names: ['null'], common: 'id triggers', types: { null_resource: '' }, data: '' },
  {
    names: ['time'],
    common: 'id triggers day hour minute month second unix year rfc3339',
    types: {
      time_offset: 'base_rfc3339 offset_days offset_hours offset_minutes offset_months offset_seconds offset_years',
      time_rotating: 'rotation_days rotation_hours rotation_minutes rotation_months rotation_rfc3339 rotation_years',
      time_sleep: `create_duration=${PAUSES} destroy_duration=${PAUSES}`,
      time_static: '',
    },
    data: '',
  },
  {
    names: ['tls'],
    common: 'id',
    types: {
      tls_cert_request: 'cert_request_pem dns_names ip_addresses key_algorithm private_key_pem subject uris',
      tls_private_key: `algorithm ecdsa_curve private_key_openssh private_key_pem private_key_pem_pkcs8
        public_key_fingerprint_md5 public_key_fingerprint_sha256 public_key_openssh public_key_pem rsa_bits=2048..8192`,
    },
    data: 'tls_private_key tls_public_key',
  },
  { names: ['local'], common: '', types: {}, data: '' },
  { names: ['cloudinit'], common: '', types: {}, data: 'cloudinit_config' },
  { names: ['template'], common: '', types: {}, data: 'template_file' },
];
