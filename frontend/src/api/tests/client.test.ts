import { afterEach, describe, expect, it, vi } from 'vitest';

import { csrfToken, queryString, readCookie, request } from '../client';
import { ApiError, sentenceOf } from '../errors';

function answer(body: string, status = 200) {
  const fetched = vi.fn(async (..._: Parameters<typeof fetch>) => new Response(body, { status }));
  vi.stubGlobal('fetch', fetched);
  return fetched;
}

async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error('it was not refused');
  return error;
}

afterEach(() => {
  // biome-ignore lint/suspicious/noDocumentCookie: jsdom has no cookie store
  document.cookie = 'csrftoken=; max-age=0';
  document.head.replaceChildren();
});

describe('a call', () => {
  it('keeps integers of 64 bits exact, in both directions', async () => {
    const fetched = answer('{"id": 9007199254740993, "small": 12, "ratio": 0.5}');
    const body = await request<{ id: bigint; small: number }>('/x', {
      method: 'POST',
      body: { id: 9007199254740993n },
    });
    expect(body).toEqual({ id: 9007199254740993n, small: 12, ratio: 0.5 });
    expect(fetched.mock.calls[0]?.[1]?.body).toBe('{"id":9007199254740993}');
  });

  it('that changes something carries the CSRF token', async () => {
    // biome-ignore lint/suspicious/noDocumentCookie: jsdom has no cookie store
    document.cookie = 'csrftoken=abc';
    const fetched = answer('{}');
    await request('/x', { method: 'POST', body: {} });
    await request('/x');
    const tokens = fetched.mock.calls.map(([, init]) => new Headers(init?.headers).get('X-CSRFToken'));
    expect(tokens).toEqual(['abc', null]);
  });

  it('that is refused throws the reason of the problem document', async () => {
    const fields = [{ field: 'graph.nodes[2].key', message: 'is used twice', node: 'n3' }];
    answer(
      JSON.stringify({ title: 'Conflict', status: 409, code: 'draft_conflict', detail: 'Too late.', data: { fields } }),
      409,
    );
    const error = await refusal(request('/x'));
    expect(error).toMatchObject({ code: 'draft_conflict', status: 409, detail: 'Too late.', fields });
  });

  it('that meets a page instead of JSON still throws an error with its status', async () => {
    answer('<h1>Bad gateway</h1>', 502);
    expect(await refusal(request('/x'))).toMatchObject({ status: 502, code: 'unreadable_answer' });
  });

  it('that is not answered at all says so', async () => {
    vi.stubGlobal(
      'fetch',
      vi.fn(async () => {
        throw new TypeError('Failed to fetch');
      }),
    );
    const error = await refusal(request('/x'));
    expect(error.isOffline).toBe(true);
  });

  it('with an empty answer gives nothing', async () => {
    answer('', 200);
    expect(await request('/x')).toBeUndefined();
  });
});

describe('the parts of a call', () => {
  it('leave empty filters out of the address', () => {
    expect(queryString({ status: ['failed', 'running'], q: '', cursor: null, limit: 50 })).toBe(
      '?status=failed%2Crunning&limit=50',
    );
    expect(queryString({})).toBe('');
  });

  it('find one cookie among others', () => {
    expect(readCookie('csrftoken', 'a=1; csrftoken=x%3Dy; b=2')).toBe('x=y');
    expect(readCookie('missing', 'a=1')).toBe('');
  });

  it('take the token of the page where there is no cookie', () => {
    document.head.innerHTML = '<meta name="csrf-token" content="from-page">';
    expect(csrfToken()).toBe('from-page');
  });
});

describe('the sentence of a refusal', () => {
  const refused = (detail: string) =>
    new ApiError({
      ...{ code: 'bad_input', status: 400, detail },
      data: { fields: [{ field: 'name', message: 'It is too long.' }] },
    });

  it('names a field once, whether or not the server does', () => {
    expect(sentenceOf(refused('name: It is too long. (1 more)'))).toBe('name: It is too long. (1 more)');
    expect(sentenceOf(refused('The connection was not saved.'))).toBe(
      'The connection was not saved. name: It is too long.',
    );
  });
});
