import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(__dirname, '..');
const MOST_LINES = 300;

const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.tsx?$/.test(path) && path !== 'api/schema.ts',
);

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The files of this project that a file imports, as paths below src. */
function importsOf(path: string): string[] {
  const found = [...textOf(path).matchAll(/(?:from|import\() ?['"](\.[^'"]+)['"]/g)].map((match) => match[1] ?? '');
  return found.map((target) => relative(ROOT, resolve(ROOT, dirname(path), target)));
}

const roomOf = (path: string): string => {
  const [first = '', second = ''] = path.split('/');
  return first === 'features' ? `features/${second}` : first;
};

/** Who may import whom: a room and the rooms below it. `testing` may look into all of them, and only tests into it. */
const BELOW: { [room: string]: readonly string[] } = {
  lib: [],
  hooks: ['lib'],
  diagram: ['lib'],
  api: ['lib', 'diagram'],
  components: ['lib', 'hooks', 'diagram', 'api'],
  app: ['lib', 'hooks', 'diagram', 'api', 'components', 'features'],
};
const OF_FEATURES = ['lib', 'hooks', 'diagram', 'api', 'components'];

const isTest = (path: string): boolean =>
  /\.test\.tsx?$/.test(path) || path.includes('testing/') || path.includes('/tests/');

function isAllowed(path: string, target: string): boolean {
  const [from, to] = [roomOf(path), roomOf(target)];
  if (from === to) return true;
  if (to === 'testing') return path === 'app/main.tsx';
  const below = from.startsWith('features/') ? OF_FEATURES : (BELOW[from] ?? []);
  return below.includes(to.startsWith('features/') ? 'features' : to);
}

describe('the house', () => {
  it('has its layers: features never know each other, the diagram knows neither, imports go down', () => {
    const wrong = files
      .filter((path) => !isTest(path))
      .flatMap((path) =>
        importsOf(path)
          .filter((target) => !isAllowed(path, target))
          .map((target) => `${path} -> ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it(`has no file of more than ${MOST_LINES} lines`, () => {
    const long = files.filter((path) => textOf(path).split('\n').length - 1 > MOST_LINES);
    expect(long).toEqual([]);
  });

  it('names no registry in its lock file', () => {
    expect(readFileSync(resolve(ROOT, '../package-lock.json'), 'utf8')).not.toMatch(/"resolved"|registry\./);
  });
});
