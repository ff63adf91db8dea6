import { isObject } from '../lib/json';

export interface FieldProblem {
  field: string;
  message: string;
  node?: string;
}

/** A refusal of the API in the words of RFC 9457, or the reason why no answer came (status 0). */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly data: { [key: string]: unknown };

  constructor({ code, status, detail, data = {} }: Pick<ApiError, 'code' | 'status' | 'detail'> & Partial<ApiError>) {
    super(detail);
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.data = data;
  }

  get fields(): FieldProblem[] {
    const fields = this.data.fields;
    return Array.isArray(fields) ? (fields as FieldProblem[]) : [];
  }

  get isOffline(): boolean {
    return this.status === 0;
  }
}

export function errorFrom(status: number, body: unknown): ApiError {
  if (!isObject(body)) {
    return new ApiError({
      code: 'unreadable_answer',
      status,
      detail: `The server answered ${status} without a reason.`,
    });
  }
  const text = (value: unknown, otherwise: string) => (typeof value === 'string' && value ? value : otherwise);
  return new ApiError({
    code: text(body.code, 'error'),
    status,
    detail: text(body.detail, text(body.title, `The server answered ${status}.`)),
    data: isObject(body.data) ? body.data : {},
  });
}

/** Says any thrown thing in one sentence for a person. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError) {
    const [first] = error.fields;
    const isSaid = !first || error.detail.includes(first.message); // the server's sentence names the first field by itself
    return isSaid ? error.detail : `${error.detail} ${first.field}: ${first.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}
