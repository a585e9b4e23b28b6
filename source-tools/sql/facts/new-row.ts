/** What the body of a trigger in PL/pgSQL assigns to the new row. */
import type { Tree } from './parser';
import { afterAssignment } from './plpgsql';
import { assignedBy, type Assigned } from './assigned';
import type { Executed } from './rehearsable';
import { list, nodeOf, number, onlyStatement, text, typed, typedList, type TypedNode } from './tree';

type Assigns = Executed['assigns'];
/** Variables by number. NEW is 0, OLD is 1. */
type Variables = readonly (TypedNode | null)[];

const EACH_COLUMN: Assigns = [{ name: null, assigned: 'other' }];
/** `NEW.column := `, without subscripts or members. */
const WHOLE_COLUMN = /^\s*[^\s.[\]:=]+\s*\.\s*[^\s.[\]:=]+\s*:?=/;
/** Values of RETURN that assign nothing. */
const ROW_AS_IT_IS = /^(?:null|coalesce\s*\(\s*(?:new\s*,\s*old|old\s*,\s*new)\s*\))$/i;

/** `parsed`: the body, as `parsePlpgsqlBody` returns it. */
export function assignedToNew(parsed: readonly Tree[]): Assigns {
  return parsed.flatMap((item) => {
    const body = nodeOf(item);
    return assigns(body['action'], list(body, 'datums').map(typed));
  });
}

function assigns(value: unknown, variables: Variables): Assigns {
  if (typeof value !== 'object' || value === null) return [];
  const { type, node } = typed(value) ?? { type: '', node: value as Tree };
  switch (type) {
    case 'PLpgSQL_stmt_assign': {
      const query = text(nodeOf(node['expr']), 'query');
      return assignsTo(number(node, 'varno') ?? 0, variables, WHOLE_COLUMN.test(query) ? valueOf(query) : 'other');
    }
    case 'PLpgSQL_diag_item':
      return assignsTo(number(node, 'target') ?? 0, variables);
    case 'PLpgSQL_row': // of INTO
      return list(node, 'fields').flatMap((field) => assignsTo(number(field as Tree, 'varno') ?? 0, variables));
    case 'PLpgSQL_rec': // of INTO
      return assignsTo(number(node, 'dno') ?? 0, variables);
    case 'PLpgSQL_stmt_return':
      return returnsOther(node) ? EACH_COLUMN : [];
    default:
      return Object.values(node).flatMap((member) => assigns(member, variables));
  }
}

function assignsTo(variable: number, variables: Variables, assigned: Assigned = 'other'): Assigns {
  if (variable === 0) return EACH_COLUMN;
  const field = variables[variable];
  const isOfNew = field?.type === 'PLpgSQL_recfield' && (number(field.node, 'recparentno') ?? 0) === 0;
  return isOfNew ? [{ name: text(field.node, 'fieldname'), assigned }] : [];
}

/** True for RETURN of anything else than NEW, OLD or NULL. */
function returnsOther(node: Tree): boolean {
  const value = text(nodeOf(node['expr']), 'query').trim();
  return (number(node, 'retvarno') ?? 0) > 1 || (value !== '' && !ROW_AS_IT_IS.test(value));
}

function valueOf(query: string): Assigned {
  const select = onlyStatement(`SELECT ${afterAssignment(query)}`);
  return select === null ? 'other' : assignedBy(typedList(select.node, 'targetList')[0]?.node['val']);
}
