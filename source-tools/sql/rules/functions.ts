import { z } from 'zod';
import { defineSqlRule, type Hit } from './define-sql-rule';
import type { FunctionCallFact } from '../facts/sql-facts';
import { parseName, shownName } from '../../../policy/text/table-name';
import { wordList } from '../../../policy/text/word-list';

/** Functions that access files or other servers, or run SQL from text. Matched in any schema. */
const DANGEROUS = new Set(
  wordList(`
  pg_read_file pg_read_binary_file pg_stat_file pg_ls_dir pg_ls_logdir pg_ls_waldir pg_ls_tmpdir pg_ls_archive_statusdir pg_ls_logicalsnapdir pg_ls_logicalmapdir pg_ls_replslotdir pg_ls_summariesdir
  pg_current_logfile pg_logdir_ls pg_file_write pg_file_sync pg_file_rename pg_file_unlink pg_file_read pg_file_length
  lo_import lo_export
  query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml cursor_to_xmlschema table_to_xml table_to_xmlschema table_to_xml_and_xmlschema
  schema_to_xml schema_to_xmlschema schema_to_xml_and_xmlschema database_to_xml database_to_xmlschema database_to_xml_and_xmlschema
  pg_import_system_collations pg_extension_config_dump
`),
);
/** Prefixes of function families that all count as dangerous. */
const DANGEROUS_PREFIXES = ['dblink', 'binary_upgrade_', 'postgres_fdw_'];

/** Functions that change sessions, settings, the server's state or large objects, even inside a SELECT. */
const SIDE_EFFECTS = new Set(
  wordList(`
  pg_terminate_backend pg_cancel_backend pg_sleep pg_sleep_for pg_sleep_until set_config pg_reload_conf pg_rotate_logfile pg_promote
  pg_switch_wal pg_create_restore_point pg_backup_start pg_backup_stop pg_start_backup pg_stop_backup pg_wal_replay_pause pg_wal_replay_resume pg_log_backend_memory_contexts
  pg_create_physical_replication_slot pg_create_logical_replication_slot pg_copy_physical_replication_slot pg_copy_logical_replication_slot pg_drop_replication_slot pg_replication_slot_advance pg_sync_replication_slots
  pg_logical_slot_get_changes pg_logical_slot_get_binary_changes pg_logical_emit_message
  pg_replication_origin_create pg_replication_origin_drop pg_replication_origin_advance pg_replication_origin_session_setup
  pg_advisory_lock pg_advisory_lock_shared setval lo_create lo_creat lo_unlink lo_put lo_from_bytea lo_truncate lo_truncate64 lowrite
  pg_stat_reset pg_stat_reset_shared pg_stat_reset_slru pg_stat_reset_single_table_counters pg_stat_reset_single_function_counters pg_stat_statements_reset
  pg_restore_relation_stats pg_restore_attribute_stats pg_clear_relation_stats pg_clear_attribute_stats brin_summarize_new_values gin_clean_pending_list pg_prewarm pg_nextoid
`),
);

const Allowed = z.strictObject({ allow: z.array(z.string().min(1).max(130)).max(200).default([]) });

function calls(
  found: readonly FunctionCallFact[],
  matches: (name: string) => boolean,
  allow: readonly string[],
  what: string,
): readonly Hit[] {
  const allowed = new Set(allow.map((text) => parseName(text)?.name));
  return found
    .filter((f) => matches(f.function.name) && !allowed.has(f.function.name))
    .map((f) => ({ at: f, what: `${shownName(f.function)}() ${what}` }));
}

export const dangerousFunction = defineSqlRule({
  name: 'sql_dangerous_function',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'A function in a SELECT can read files of the server, connect to other servers, or run SQL from text.',
  config: Allowed,
  examples: {
    bad: 'SELECT U&"pg_read\\005ffile"(\'/etc/passwd\')',
    good: "SELECT 'pg_read_file', pg_read_file FROM t",
  },
  find: ({ functionCalls }, { allow }) =>
    calls(
      functionCalls,
      (name) => DANGEROUS.has(name) || DANGEROUS_PREFIXES.some((p) => name.startsWith(p)),
      allow,
      'accesses data outside the database or runs SQL from text',
    ),
});

export const sideEffectFunction = defineSqlRule({
  name: 'sql_side_effect_function',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A function in a SELECT can end sessions, change settings or sequences, or keep a connection busy.',
  config: Allowed,
  examples: {
    bad: 'SELECT pg_catalog."pg_terminate_backend"(pid) FROM pg_stat_activity',
    good: 'SELECT pg_backend_pid(), now()',
  },
  find: ({ functionCalls }, { allow }) =>
    calls(functionCalls, (name) => SIDE_EFFECTS.has(name), allow, 'has side effects'),
});
