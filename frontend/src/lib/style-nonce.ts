/** The nonce that the page's content security policy lets style elements carry. */
export function readStyleNonce(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]');
  return meta?.nonce || meta?.content || '';
}
