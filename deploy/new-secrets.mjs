// node deploy/new-secrets.mjs [folder]   Generates the passwords for docker-compose.yml, one file for each service.
//
// PostgreSQL gets SCRAM verifiers (RFC 5803), which do not reveal the password, so each password is only in the file of the one
// service that uses it. Existing files are never overwritten: to generate new passwords, use an empty folder.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), 'secrets');
if (existsSync(join(folder, 'postgres.env'))) {
  process.stderr.write(
    `${folder} already contains passwords, and the database volume was created with them. Nothing was changed.\n`,
  );
  process.exit(1);
}
mkdirSync(folder, { recursive: true, mode: 0o700 });

const roles = {
  temporal: 'temporal',
  countersign_owner: 'setup',
  cs_review: 'review',
  cs_judge: 'judge',
  cs_commit: 'committer',
  cs_gateway: 'gateway',
  cs_operator: 'operator',
  cs_reader: 'reader',
};
const DATABASE_VARIABLE = {
  countersign_owner: 'COUNTERSIGN_DATABASE_ADMIN_URL',
  cs_operator: 'COUNTERSIGN_OPERATOR_DATABASE_URL',
};
const verifiers = {};
for (const [role, service] of Object.entries(roles)) {
  const password = randomBytes(24).toString('hex');
  verifiers[`${role.toUpperCase()}_VERIFIER`] = scramVerifier(password);
  write(
    service,
    role === 'temporal'
      ? { POSTGRES_PWD: password, SQL_PASSWORD: password }
      : {
          [DATABASE_VARIABLE[role] ?? 'COUNTERSIGN_DATABASE_URL']:
            `postgresql://${role}:${password}@postgres:5432/countersign`,
        },
  );
}
writeFileSync(
  join(folder, 'payload-keys.json'),
  `${JSON.stringify({ current: 'k1', keys: { k1: randomBytes(32).toString('hex') } })}\n`,
  { mode: 0o600, flag: 'wx' },
);
write('postgres', { POSTGRES_PASSWORD: randomBytes(24).toString('hex'), ...verifiers });
process.stdout.write(`Passwords written to ${folder}. For the other required files see deploy/README.md\n`);

function write(service, values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, `${service}.env`), lines.join(''), { mode: 0o600, flag: 'wx' });
}

function scramVerifier(password, iterations = 4096) {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const hmac = (text) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}
