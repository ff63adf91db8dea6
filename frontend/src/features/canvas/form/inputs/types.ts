import type { Json } from '../../../../lib/json';
import type { Scope } from '../completion';
import type { Field } from '../schema';

export interface InputProps {
  field: Field;
  value: Json | undefined;
  /** undefined leaves the field out. */
  onChange: (value: Json | undefined) => void;
  scope: Scope;
  readOnly: boolean;
  invalid: boolean;
}
