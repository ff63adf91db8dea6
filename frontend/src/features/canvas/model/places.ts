import {
  childrenByParent,
  type GraphDocument,
  type GraphNode,
  isContainer,
  type KindsByName,
  type Point,
  portsById,
  sizesById,
} from '../../../diagram';
import { nodeOf } from './walk';

/** A node's top left corner in the whole graph, not only in its container. */
export function absolutePlace(document: GraphDocument, id: string): Point {
  const place = { x: 0, y: 0 };
  for (
    let at: GraphNode | undefined = nodeOf(document, id);
    at;
    at = at.parent === null ? undefined : nodeOf(document, at.parent)
  ) {
    place.x += at.position.x;
    place.y += at.position.y;
  }
  return place;
}

/** The innermost container below a point; null outside of all. `except` names nodes that cannot be it. */
export function containerAt(
  document: GraphDocument,
  point: Point,
  kinds: KindsByName,
  except: ReadonlySet<string> = new Set(),
): string | null {
  const children = childrenByParent(document);
  const sizes = sizesById(kinds, { children, ports: portsById(document, kinds) });
  let found: string | null = null;
  const visit = (parent: string | null, origin: Point): void => {
    for (const node of children.get(parent) ?? []) {
      const corner = { x: origin.x + node.position.x, y: origin.y + node.position.y };
      const size = sizes.get(node.id);
      if (except.has(node.id) || !isContainer(node, kinds) || !size) continue;
      const isOver =
        point.x >= corner.x &&
        point.x <= corner.x + size.width &&
        point.y >= corner.y &&
        point.y <= corner.y + size.height;
      if (!isOver) continue;
      found = node.id;
      visit(node.id, corner);
    }
  };
  visit(null, { x: 0, y: 0 });
  return found;
}
