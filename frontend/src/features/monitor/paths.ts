/** The path of a step run, read: `each[17].ocr` is node `ocr` in item 17 of the container at `each`. */
export interface ReadPath {
  key: string;
  parent: string | null;
  index: number | null;
}

export function readPath(path: string): ReadPath {
  const dot = path.lastIndexOf('.');
  if (dot < 0) return { key: path, parent: null, index: null };
  const before = path.slice(0, dot);
  const item = /^(.*)\[(\d+)\]$/.exec(before);
  return {
    key: path.slice(dot + 1),
    parent: item?.[1] ?? before,
    index: item?.[2] === undefined ? null : Number(item[2]),
  };
}

/** `each[17]` for `each[17].ocr`; null at the top. */
export function itemOf(path: string): string | null {
  const dot = path.lastIndexOf('.');
  return dot < 0 ? null : path.slice(0, dot);
}
