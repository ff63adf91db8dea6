import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ApiError } from '../../api/errors';
import type { Draft } from './api';
import { Autosave } from './autosave';
import { readKept } from './kept';
import { addNode, EMPTY } from './model/document';
import { nextSaveState, type SaveEvent, type SaveState, saveDelay } from './model/saving';
import { createCanvasStore } from './store';

const draft = (revision: number, graph = EMPTY): Draft => ({
  revision,
  graph,
  problems: [],
  updated_at: '2026-01-01T00:00:00Z',
  updated_by: 'Ben',
});
const theirs = draft(9);

describe('the state of saving', () => {
  const at: Record<SaveState['kind'], SaveState> = {
    saved: { kind: 'saved', revision: 1 },
    waiting: { kind: 'waiting', revision: 1 },
    saving: { kind: 'saving', revision: 1, editedMeanwhile: false, failures: 0 },
    offline: { kind: 'offline', revision: 1, failures: 2 },
    refused: { kind: 'refused', revision: 1, reason: 'no' },
    conflict: { kind: 'conflict', revision: 1, theirs },
  };
  const events: Record<string, SaveEvent> = {
    edited: { type: 'edited' },
    began: { type: 'began' },
    saved: { type: 'saved', revision: 2 },
    unreachable: { type: 'unreachable' },
    refused: { type: 'refused', reason: 'no' },
    conflict: { type: 'conflict', theirs },
    mine: { type: 'chose', keep: 'mine' },
    theirs: { type: 'chose', keep: 'theirs' },
  };
  // Rows: the state; columns: what it becomes after each event.
  const table = `
              edited    began     saved     unreachable refused  conflict  mine      theirs
    saved     waiting   saving    saved     offline     refused  conflict  saved     saved
    waiting   waiting   saving    waiting   offline     refused  conflict  waiting   waiting
    saving    saving    saving    saved     offline     refused  conflict  saving    saving
    offline   offline   saving    offline   offline     refused  conflict  offline   offline
    refused   waiting   saving    refused   offline     refused  conflict  refused   refused
    conflict  conflict  conflict  conflict  offline     refused  conflict  waiting   saved`;
  const [head, ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

  it.each(rows.map((row) => [row[0], row.slice(1)] as const))('from %s', (state, becomes) => {
    const found = (head ?? []).map(
      (event) => nextSaveState(at[state as SaveState['kind']], events[event] as SaveEvent).kind,
    );
    expect(found).toEqual(becomes);
  });

  it('is not saved when an edit came while saving', () => {
    const meanwhile = nextSaveState(at.saving, { type: 'edited' });
    expect(nextSaveState(meanwhile, { type: 'saved', revision: 2 })).toEqual({ kind: 'waiting', revision: 2 });
  });

  it('waits longer after each failure, and never more than half a minute', () => {
    const delays = [1, 2, 3, 9].map((failures) => saveDelay({ kind: 'offline', revision: 1, failures }));
    expect(delays).toEqual([2000, 4000, 8000, 30_000]);
  });
});

function setUp(save = vi.fn<(body: { revision: number }) => Promise<Draft>>()) {
  const store = createCanvasStore(draft(4), { canEdit: true });
  const autosave = new Autosave({ store, workflowId: 'w', save, read: async () => theirs });
  const edit = (id: string) =>
    store.getState().apply('Add', (graph) => addNode(graph, { id, kind: 'ocr', position: { x: 0, y: 0 } }));
  return { store, autosave, save, edit, kind: () => store.getState().save.kind };
}

const offline = () => new ApiError({ code: 'unreachable', status: 0, detail: '' });

describe('autosave', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    localStorage.clear();
  });
  afterEach(() => vi.useRealTimers());

  it('saves once after a pause, naming the revision it began from', async () => {
    const { edit, save, kind, store } = setUp();
    save.mockResolvedValue(draft(5));
    edit('a');
    edit('b');
    expect(kind()).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1000);
    expect(save).toHaveBeenCalledTimes(1);
    expect(save.mock.calls[0]?.[0].revision).toBe(4);
    expect(store.getState().save).toEqual({ kind: 'saved', revision: 5 });
    expect(readKept('w')).toBeNull();
  });

  it('never has two requests on their way, and saves what came meanwhile with the new revision', async () => {
    const { edit, save, kind } = setUp();
    let answer: (made: Draft) => void = () => undefined;
    save.mockImplementationOnce(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    save.mockResolvedValue(draft(6));
    edit('a');
    await vi.advanceTimersByTimeAsync(1000);
    edit('b');
    await vi.advanceTimersByTimeAsync(5000);
    expect(save).toHaveBeenCalledTimes(1);
    answer(draft(5));
    await vi.advanceTimersByTimeAsync(1000);
    expect(save.mock.calls.map(([body]) => body.revision)).toEqual([4, 5]);
    expect(kind()).toBe('saved');
  });

  it('keeps edits in the browser while offline, tries again by itself, then forgets them', async () => {
    const { edit, save, kind } = setUp();
    save.mockRejectedValueOnce(offline()).mockRejectedValueOnce(offline()).mockResolvedValue(draft(5));
    edit('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(kind()).toBe('offline');
    expect(readKept('w')).toMatchObject({ revision: 4, graph: { nodes: [{ id: 'a' }] } });
    await vi.advanceTimersByTimeAsync(2000);
    expect(kind()).toBe('offline');
    await vi.advanceTimersByTimeAsync(4000);
    expect(kind()).toBe('saved');
    expect(readKept('w')).toBeNull();
  });

  it('stops at a conflict until somebody chooses, then saves over their revision', async () => {
    const { edit, save, kind, store, autosave } = setUp();
    save.mockRejectedValueOnce(new ApiError({ code: 'draft_conflict', status: 409, detail: '', data: { ...theirs } }));
    save.mockResolvedValue(draft(10));
    edit('a');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kind()).toBe('conflict');
    expect(await autosave.flush()).toBe(false);
    expect(save).toHaveBeenCalledTimes(1);
    store.getState().saving({ type: 'chose', keep: 'mine' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(save.mock.calls[1]?.[0].revision).toBe(9);
    expect(kind()).toBe('saved');
  });

  it('asks for their draft where the refusal did not bring it', async () => {
    const { edit, save, store } = setUp();
    save.mockRejectedValueOnce(new ApiError({ code: 'draft_conflict', status: 409, detail: '' }));
    edit('a');
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.getState().save).toMatchObject({ kind: 'conflict', theirs });
  });

  it('says why the server refused, and tries again only after the next edit', async () => {
    const { edit, save, store } = setUp();
    save
      .mockRejectedValueOnce(new ApiError({ code: 'bad_graph', status: 422, detail: 'A cycle.' }))
      .mockResolvedValue(draft(5));
    edit('a');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(store.getState().save).toEqual({ kind: 'refused', revision: 4, reason: 'A cycle.' });
    edit('b');
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.getState().save.kind).toBe('saved');
  });

  it('flush saves at once, and also what was edited while it saved', async () => {
    const { edit, save, autosave, kind } = setUp();
    save.mockImplementationOnce(async () => {
      edit('late');
      return draft(5);
    });
    save.mockResolvedValue(draft(6));
    edit('a');
    expect(await autosave.flush()).toBe(true);
    expect(save).toHaveBeenCalledTimes(2);
    expect(kind()).toBe('saved');
  });

  it('undo is saved like any other change; a viewer changes nothing', async () => {
    const { edit, save, store } = setUp();
    save.mockResolvedValue(draft(5));
    edit('a');
    await vi.advanceTimersByTimeAsync(1000);
    store.getState().undo();
    expect(store.getState().save.kind).toBe('waiting');
    const viewer = createCanvasStore(draft(1), { canEdit: false });
    viewer.getState().apply('Add', (graph) => addNode(graph, { id: 'a', kind: 'ocr', position: { x: 0, y: 0 } }));
    expect(viewer.getState().document).toBe(EMPTY);
  });
});
