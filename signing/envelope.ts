import { sign } from 'node:crypto';
import type { Envelope } from '../policy/contracts/diff';
import { toEnvelope } from '../policy/evidence/dsse';
import {
  signerOf,
  statementOf,
  type PredicateOf,
  type Statement,
  type StatementKind,
} from '../policy/evidence/statement';
import type { SigningKey } from './keys';

/** Signs a predicate. Throws TypeError if it is not valid or names another signer than `key`. */
export function signPredicate<K extends StatementKind>(kind: K, predicate: PredicateOf<K>, key: SigningKey): Envelope {
  const statement = statementOf(kind, predicate);
  const signer = signerOf(kind, predicate);
  if (signer !== key.keyId)
    throw new TypeError(`Cannot sign a ${kind} statement: expected signer ${key.keyId}, got ${signer}`);
  return signEnvelope(statement, key);
}

export function signEnvelope(statement: Statement, key: SigningKey): Envelope {
  return toEnvelope(statement, key.keyId, (bytes) => sign(null, bytes, key.privateKey));
}
