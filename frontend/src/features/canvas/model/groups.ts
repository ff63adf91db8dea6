import { frameAround, type GraphDocument, type GraphGroup, type Point } from '../../../diagram';
import { noteOf } from './notes';
import { nodeOf } from './walk';

const NONE: readonly GraphGroup[] = [];

export const groupsOf = (document: GraphDocument): readonly GraphGroup[] => document.groups ?? NONE;
export const groupOf = (document: GraphDocument, id: string): GraphGroup | undefined =>
  groupsOf(document).find((group) => group.id === id);
export const groupAround = (document: GraphDocument, id: string): GraphGroup | undefined =>
  groupsOf(document).find((group) => group.members.includes(id));

export const newGroupId = (): string => `g_${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;

/** The ids with the members of the groups among them; the groups stay in it. */
export function withMembers(document: GraphDocument, ids: Iterable<string>): Set<string> {
  const found = new Set(ids);
  for (const group of groupsOf(document)) {
    if (found.has(group.id)) for (const member of group.members) found.add(member);
  }
  return found;
}

/** The level on which a step, or a note (which only lies on the top one), stands; undefined where there is no such thing. */
const levelOf = (document: GraphDocument, id: string): string | null | undefined => {
  const node = nodeOf(document, id);
  return node ? node.parent : noteOf(document, id) ? null : undefined;
};

/** Why these cannot become a group, in a sentence; null where they can. */
export function whyNotGroup(document: GraphDocument, ids: Iterable<string>): string | null {
  const members = membersAmong(document, ids);
  if (!members.some((id) => nodeOf(document, id))) return 'Select the steps that shall become a group.';
  const levels = new Set(members.map((id) => levelOf(document, id)));
  return levels.size > 1
    ? 'A group holds steps of one level: all outside of containers, or all in the same one.'
    : null;
}

/** Steps and notes among the ids; of selected groups their members. What stands inside of a chosen container comes with it. */
function membersAmong(document: GraphDocument, ids: Iterable<string>): string[] {
  const chosen = withMembers(document, ids);
  return [...chosen].filter((id) => {
    const level = levelOf(document, id);
    return level === null || (level !== undefined && !chosen.has(level));
  });
}

/** Makes a group of them. Whoever stood in another group leaves it. */
export function makeGroup(
  document: GraphDocument,
  ids: Iterable<string>,
  { id, name }: { id: string; name: string },
): GraphDocument {
  if (groupOf(document, id) || whyNotGroup(document, ids) !== null) return document;
  const members = membersAmong(document, ids);
  const taken = new Set(members);
  const others = groupsOf(document).map((group) => without(group, taken));
  return settleGroups({ ...document, groups: [...others, { id, name, members, collapsed: false }] });
}

const without = (group: GraphGroup, taken: ReadonlySet<string>): GraphGroup =>
  group.members.some((member) => taken.has(member))
    ? { ...group, members: group.members.filter((member) => !taken.has(member)) }
    : group;

/** The steps stay; only their frame goes. */
export function ungroup(document: GraphDocument, ids: ReadonlySet<string>): GraphDocument {
  const left = groupsOf(document).filter((group) => !ids.has(group.id));
  return left.length === groupsOf(document).length ? document : { ...document, groups: left };
}

function change(document: GraphDocument, id: string, patch: Partial<GraphGroup>): GraphDocument {
  const group = groupOf(document, id);
  if (!group) return document;
  return { ...document, groups: groupsOf(document).map((one) => (one === group ? { ...group, ...patch } : one)) };
}

export const foldGroup = (document: GraphDocument, id: string, collapsed: boolean): GraphDocument =>
  groupOf(document, id)?.collapsed === collapsed ? document : change(document, id, { collapsed });

export const renameGroup = (document: GraphDocument, id: string, name: string): GraphDocument =>
  name.trim() === '' || groupOf(document, id)?.name === name.trim()
    ? document
    : change(document, id, { name: name.trim() });

/** After any other change: members that are gone or stand on another level now leave, and a group without steps goes. */
export function settleGroups(document: GraphDocument): GraphDocument {
  const groups = groupsOf(document);
  if (groups.length === 0) return document;
  const taken = new Set<string>();
  const settled = groups.map((group) => {
    const level = commonLevel(document, group.members);
    const stays = (id: string) =>
      !taken.has(id) && levelOf(document, id) !== undefined && levelOf(document, id) === level;
    const members = group.members.filter(stays);
    for (const member of members) taken.add(member);
    return members.length === group.members.length ? group : { ...group, members };
  });
  const left = settled.filter((group) => group.members.some((id) => nodeOf(document, id)));
  const isSame = left.length === groups.length && left.every((group, at) => group === groups[at]);
  return isSame ? document : { ...document, groups: left };
}

/** Where most of them stand. */
function commonLevel(document: GraphDocument, members: readonly string[]): string | null | undefined {
  const counts = new Map<string | null, number>();
  for (const member of members) {
    const level = levelOf(document, member);
    if (level !== undefined) counts.set(level, (counts.get(level) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** 'Group 1', 'Group 2': the first that no other group has. */
export function freeGroupName(document: GraphDocument): string {
  const taken = new Set(groupsOf(document).map((group) => group.name));
  let count = 1;
  while (taken.has(`Group ${count}`)) count += 1;
  return `Group ${count}`;
}

/** Where a group is dragged to, its members go, and keep their places to each other. `moved`: whatever the hand moves. */
export function carryMembers(document: GraphDocument, moved: readonly [string, Point][]): [string, Point][] {
  const own = new Set(moved.map(([id]) => id));
  return moved.flatMap(([id, to]): [string, Point][] => {
    const group = groupOf(document, id);
    if (!group) return [[id, to]];
    const members = [...document.nodes, ...(document.notes ?? [])].filter((thing) => group.members.includes(thing.id));
    const from = frameAround(members, group.collapsed); // its corner does not depend on sizes
    return members
      .filter((member) => !own.has(member.id))
      .map(({ id: member, position }) => [member, { x: position.x + to.x - from.x, y: position.y + to.y - from.y }]);
  });
}
