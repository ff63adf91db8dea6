import { cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';

import { Markdown } from './markdown';

afterEach(cleanup);

const htmlOf = (text: string): string =>
  render(<Markdown text={text} />)
    .container.innerHTML.replace(/ class="[^"]*"/g, '')
    .replace(/^<div>|<\/div>$/g, '');

describe('Markdown', () => {
  it.each([
    ['two lines\none paragraph\n\nanother', '<p>two lines<br>one paragraph</p><p>another</p>'],
    ['# Head\ntext', '<p>Head</p><p>text</p>'],
    ['- a\n- b\n\n1. c\n2. d', '<ul><li>a</li><li>b</li></ul><ol><li>c</li><li>d</li></ol>'],
    ['> said\n> twice', '<blockquote><p>said<br>twice</p></blockquote>'],
    ['```sql\nselect *\n```\nafter', '<pre><code>select *</code></pre><p>after</p>'],
    ['```\nnever closed', '<pre><code>never closed</code></pre>'],
    ['a\n---\nb', '<p>a</p><hr><p>b</p>'],
    [
      '**bold _both_** *it* ~~no~~ `**code**`',
      '<p><strong>bold <em>both</em></strong> <em>it</em> <s>no</s> <code>**code**</code></p>',
    ],
    ['snake_case_name and 2 * 3 * 4', '<p>snake_case_name and 2 * 3 * 4</p>'],
  ])('shows %j', (text, html) => {
    expect(htmlOf(text)).toBe(html);
  });

  it('shows boxes to tick', () => {
    expect(htmlOf('- [x] a\n- [ ] b')).toBe(
      '<ul><li><span role="img" aria-label="done">☑</span> a</li><li><span role="img" aria-label="to do">☐</span> b</li></ul>',
    );
  });

  it('links to pages and letters, and to nothing that could act on this page', () => {
    const { container } = render(
      <Markdown
        text={
          '[a](https://a.example/x) https://b.example/y. [c](mailto:c@d.e) [bad](javascript:alert`1`) [to](//evil.example)'
        }
      />,
    );
    expect([...container.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual([
      'https://a.example/x',
      'https://b.example/y',
      'mailto:c@d.e',
    ]);
    expect(container).toHaveTextContent('[bad](javascript:alert');
  });

  it('never makes elements of what is written as HTML', () => {
    const { container } = render(<Markdown text={'<img src=x onerror=alert(1)> <script>1</script>'} />);
    expect(container.querySelectorAll('img, script')).toHaveLength(0);
    expect(container).toHaveTextContent('<script>1</script>');
  });
});
