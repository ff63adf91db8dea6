import { type GraphDocument, type GraphNote, NOTE_COLOURS, type NoteColour, type Point, snap } from '../../../diagram';
import { isObject } from '../../../lib/json';

export const NOTE_SIZE = { width: 240, height: 140 };
export const LEAST_NOTE = { width: 140, height: 64 };
/** The server refuses longer ones. */
export const LONGEST_NOTE = 10_000;

const NONE: readonly GraphNote[] = [];

export const notesOf = (document: GraphDocument): readonly GraphNote[] => document.notes ?? NONE;
export const noteOf = (document: GraphDocument, id: string): GraphNote | undefined =>
  notesOf(document).find((note) => note.id === id);

export const newNoteId = (): string => `s_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;

export function addNote(document: GraphDocument, { id, at, text = '' }: { id: string; at: Point; text?: string }) {
  if (noteOf(document, id)) return document;
  const note: GraphNote = { id, text, colour: 'yellow', position: { x: snap(at.x), y: snap(at.y) }, size: NOTE_SIZE };
  return { ...document, notes: [...notesOf(document), note] };
}

function change(document: GraphDocument, id: string, patch: Partial<GraphNote>): GraphDocument {
  const note = noteOf(document, id);
  if (!note) return document;
  return { ...document, notes: notesOf(document).map((one) => (one === note ? { ...note, ...patch } : one)) };
}

export const setNoteText = (document: GraphDocument, id: string, text: string): GraphDocument =>
  noteOf(document, id)?.text === text ? document : change(document, id, { text: text.slice(0, LONGEST_NOTE) });

/** `position` where it was taken hold of at its left or top. */
export function resizeNote(
  document: GraphDocument,
  id: string,
  { width, height, position }: { width: number; height: number; position?: Point | undefined },
): GraphDocument {
  const size = {
    width: Math.max(snap(width), LEAST_NOTE.width),
    height: Math.max(snap(height), LEAST_NOTE.height),
  };
  return change(document, id, {
    size,
    ...(position ? { position: { x: snap(position.x), y: snap(position.y) } } : {}),
  });
}

export const setNoteColour = (document: GraphDocument, id: string, colour: NoteColour): GraphDocument =>
  noteOf(document, id)?.colour === colour ? document : change(document, id, { colour });

export function nextColour(colour: NoteColour): NoteColour {
  return NOTE_COLOURS[(NOTE_COLOURS.indexOf(colour) + 1) % NOTE_COLOURS.length] ?? 'yellow';
}

/** What a note is called in lists and by screen readers: its first words. */
export function titleOfNote({ text }: GraphNote): string {
  const first = text.split('\n').find((line) => line.trim() !== '') ?? '';
  const plain = first
    .replace(/^[#>\-*\d.\s[\]]+/, '')
    .replace(/[*_`]/g, '')
    .trim();
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain || 'Empty note';
}

export const isNote = (value: unknown): value is GraphNote =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.text === 'string' &&
  isObject(value.position) &&
  typeof value.position.x === 'number' &&
  typeof value.position.y === 'number' &&
  isObject(value.size) &&
  typeof value.size.width === 'number' &&
  typeof value.size.height === 'number';
