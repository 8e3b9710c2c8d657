// What of a page does not fit.
(() => {
  const found = [];
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) found.push(`the page is ${page.scrollWidth} wide of ${page.clientWidth}`);
  for (const drawing of document.querySelectorAll("figure svg")) {
    const edge = drawing.getBoundingClientRect();
    const texts = [...drawing.querySelectorAll("text")]
      .map((text) => ({ words: text.textContent.trim(), box: text.getBoundingClientRect() }))
      .filter((text) => text.words && text.box.width);
    for (const [index, { words, box }] of texts.entries()) {
      const outside = box.left < edge.left - 1 || box.right > edge.right + 1 || box.bottom > edge.bottom + 2;
      if (outside) found.push(`cut at the edge of its drawing: ${words}`);
      for (const other of texts.slice(index + 1)) {
        const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const high = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (wide > 2 && high > 3) found.push(`one over the other: ${words} and ${other.words}`);
      }
    }
  }
  say(found);
})();
