/** A ratchet's tooth and the pawl that catches it. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" aria-hidden="true">
      <rect width="24" height="24" rx="6.5" fill="var(--pawl-accent)" />
      <path d="M4.8 17.6 9.4 13v4.6L14 13v4.6l4.6-4.6v4.6Z" fill="#fff" />
      <path d="M18.4 6.2 10.6 9.4" stroke="#fff" strokeWidth="2.1" strokeLinecap="round" />
      <circle cx="18.2" cy="6.3" r="1.7" fill="#fff" />
    </svg>
  );
}
