/**
 * Whether the worker's core (prost) can decode a message. Go keeps what it does not understand and passes it on, for example a
 * known field with another wire type or a nested group; prost refuses the whole message. So each field is checked against the
 * schema, and messages may be nested 64 deep; prost and protobufjs stop at 100, histories are about 15 deep.
 */
import { isUtf8 } from 'node:buffer';
import * as root from '@temporalio/proto/protos/root';

const MAX_DEPTH = 64;
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];

/** The wire type of each field by its number, and the schema of those that are messages. */
type Schema = ReadonlyMap<number, SchemaField>;
interface SchemaField {
  readonly wireType: number;
  readonly repeatedNumber: boolean;
  readonly isText: boolean;
  readonly message: (() => Schema) | null;
}

/** What is used of the reflection of protobufjs. */
interface ReflectedField {
  readonly id: number;
  readonly type: string;
  readonly repeated: boolean;
  readonly map: boolean;
  readonly keyType?: string;
  readonly resolvedType: ReflectedType | { readonly values: object } | null;
  resolve(): this;
}
interface ReflectedType {
  readonly fieldsArray: readonly ReflectedField[];
}

const schemas = new Map<ReflectedType, Schema>();
const named = new Map<string, Schema>();

/** `typeName` such as `temporal.api.workflowservice.v1.PollWorkflowTaskQueueResponse`. */
export function isDecodable(typeName: string, message: Uint8Array): boolean {
  const schema = named.get(typeName) ?? schemaOf(lookUp(typeName));
  named.set(typeName, schema);
  return isValid(schema, message, 0, message.length, MAX_DEPTH);
}

function isValid(schema: Schema, bytes: Uint8Array, start: number, end: number, levels: number): boolean {
  if (levels === 0) return false;
  let i = start;
  while (i < end) {
    const tag = varint(bytes, i, end);
    if (tag === null || tag.value < 8) return false;
    const wireType = tag.value % 8;
    const field = schema.get(Math.floor(tag.value / 8));
    const value = valueAt(bytes, tag.next, end, wireType);
    // A group, or the message ends within the field.
    if (value === null) return false;
    i = value.end;
    if (field === undefined) continue;
    if (wireType !== field.wireType && !(field.repeatedNumber && wireType === BYTES)) return false;
    if (field.isText && !isUtf8(bytes.subarray(value.start, value.end))) return false;
    if (field.message !== null && !isValid(field.message(), bytes, value.start, value.end, levels - 1)) return false;
  }
  return true;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function valueAt(bytes: Uint8Array, at: number, limit: number, wireType: number): Range | null {
  let end: number | undefined;
  let start = at;
  if (wireType === VARINT) end = varint(bytes, at, limit)?.next;
  else if (wireType === FIXED64) end = at + 8;
  else if (wireType === FIXED32) end = at + 4;
  else if (wireType === BYTES) {
    const length = varint(bytes, at, limit);
    start = length?.next ?? at;
    end = length === null ? undefined : length.next + length.value;
  }
  return end === undefined || end > limit ? null : { start, end };
}

function varint(
  bytes: Uint8Array,
  at: number,
  limit: number,
): { readonly value: number; readonly next: number } | null {
  let value = 0;
  let scale = 1;
  for (let i = at; i < limit && i < at + 10; i++) {
    const byte = bytes[i] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, next: i + 1 };
    scale *= 128;
  }
  return null;
}

function lookUp(typeName: string): ReflectedType {
  return (root as unknown as { lookupType(name: string): ReflectedType }).lookupType(typeName);
}

function schemaOf(type: ReflectedType): Schema {
  const known = schemas.get(type);
  if (known !== undefined) return known;
  const schema = new Map<number, SchemaField>();
  schemas.set(type, schema);
  for (const reflected of type.fieldsArray) {
    const field = reflected.resolve();
    schema.set(field.id, field.map ? mapField(field) : schemaField(field.type, field));
  }
  return schema;
}

function schemaField(type: string, { resolvedType, repeated }: ReflectedField): SchemaField {
  const isMessage = resolvedType !== null && !('values' in resolvedType);
  const wireType = isMessage ? BYTES : resolvedType !== null ? VARINT : wireTypeOf(type);
  return {
    wireType,
    repeatedNumber: repeated && wireType !== BYTES,
    isText: type === 'string',
    message: isMessage ? () => schemaOf(resolvedType) : null,
  };
}

/** A map is a repeated message with the key as field 1 and the value as field 2. */
function mapField(field: ReflectedField): SchemaField {
  const entry: Schema = new Map([
    [1, schemaField(field.keyType ?? 'string', { ...field, resolvedType: null, repeated: false })],
    [2, schemaField(field.type, { ...field, resolvedType: field.resolvedType, repeated: false })],
  ]);
  return { wireType: BYTES, repeatedNumber: false, isText: false, message: () => entry };
}

function wireTypeOf(type: string): number {
  switch (type) {
    case 'string':
    case 'bytes':
      return BYTES;
    case 'double':
    case 'fixed64':
    case 'sfixed64':
      return FIXED64;
    case 'float':
    case 'fixed32':
    case 'sfixed32':
      return FIXED32;
    default:
      return VARINT;
  }
}

/** The last field of this number as bytes, of a message that may not be decodable; null if it is absent. */
export function bytesOf(message: Uint8Array, number: number): Uint8Array | null {
  const range = last(message, number, BYTES);
  return range === null ? null : message.subarray(range.start, range.end);
}

/** The last field of this number as an unsigned number; 0 if it is absent. */
export function numberOf(message: Uint8Array, number: number): number {
  const range = last(message, number, VARINT);
  return range === null ? 0 : (varint(message, range.start, range.end)?.value ?? 0);
}

/** Replaces the value of each field of this number that has bytes; null removes the field. Returns `message` itself if it has none. */
export function withField(
  message: Uint8Array,
  number: number,
  replace: (value: Uint8Array) => Uint8Array | null,
): Uint8Array {
  const tag = number * 8 + BYTES;
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (let i = 0; i < message.length;) {
    const field = varint(message, i, message.length);
    const value = field === null ? null : valueAt(message, field.next, message.length, field.value % 8);
    if (field === null || value === null) return message;
    if (field.value === tag) {
      const old = message.subarray(value.start, value.end);
      const replaced = replace(old);
      if (replaced !== old) {
        parts.push(message.subarray(copied, i));
        if (replaced !== null) parts.push(varintBytes(tag), varintBytes(replaced.length), replaced);
        copied = value.end;
      }
    }
    i = value.end;
  }
  return copied === 0 ? message : Buffer.concat([...parts, message.subarray(copied)]);
}

function varintBytes(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

function last(message: Uint8Array, number: number, wireType: number): Range | null {
  let found: Range | null = null;
  for (let i = 0; i < message.length;) {
    const tag = varint(message, i, message.length);
    const value = tag === null ? null : valueAt(message, tag.next, message.length, tag.value % 8);
    if (tag === null || value === null) return found;
    if (tag.value === number * 8 + wireType) found = value;
    i = value.end;
  }
  return found;
}
