import type { ProviderTable } from './entries';

/** Only computes values for the state. */
const KEEPERS = 'id keepers result';

/**
 * Providers that compute values. `local_file` and `local_sensitive_file` are not listed: they write any file of the machine that
 * applies the plan, and so can run a program there. Nor is `terraform_remote_state`, which calls the URL of its backend.
 */
export const SMALL: readonly ProviderTable[] = [
  {
    names: ['random'],
    common: KEEPERS,
    types: {
      random_bytes: 'length base64 hex',
      random_id: 'byte_length prefix b64_std b64_url dec hex',
      random_integer: 'max min seed',
      random_password: `length=12..1000 lower min_lower min_numeric min_special min_upper number numeric override_special
        special upper bcrypt_hash`,
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
      time_rotating:
        'rotation_days rotation_hours rotation_minutes rotation_months rotation_rfc3339 rotation_years rotation_rfc3339',
      time_sleep: 'create_duration destroy_duration',
      time_static: '',
    },
    data: '',
  },
  {
    names: ['tls'],
    common: 'id',
    types: {
      tls_cert_request: `dns_names ip_addresses private_key_pem subject uris cert_request_pem key_algorithm`,
      tls_private_key: `algorithm ecdsa_curve rsa_bits=2048..8192 private_key_openssh private_key_pem
        private_key_pem_pkcs8 public_key_fingerprint_md5 public_key_fingerprint_sha256 public_key_openssh public_key_pem`,
    },
    data: 'tls_certificate tls_private_key tls_public_key',
  },
  { names: ['local'], common: '', types: {}, data: 'local_file local_sensitive_file' },
  { names: ['cloudinit'], common: '', types: {}, data: 'cloudinit_config' },
  { names: ['template'], common: '', types: {}, data: 'template_file' },
];
