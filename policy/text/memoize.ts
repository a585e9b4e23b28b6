/** `make`, called once for each object and remembered as long as that lives: for what rules ask of the same facts or settings again and again. */
export function madeOnce<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const before = new WeakMap<Of, { readonly made: Made }>();
  return (of) => {
    let known = before.get(of);
    if (known === undefined) before.set(of, (known = { made: make(of) }));
    return known.made;
  };
}
