// Every text of the page whose contrast with what is behind it is below what
// WCAG 2.2 asks for at level AA (1.4.3): 4.5, or 3 for large text.
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const light = ([r, g, b]) => {
    const line = [r, g, b].map((c) => {
      const share = c / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * line[0] + 0.7152 * line[1] + 0.0722 * line[2];
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = read(getComputedStyle(at).backgroundColor);
      if (color[3] === 1) return color;
      if (color[3] > 0) throw new Error(`half a background: ${at.outerHTML.slice(0, 80)}`);
    }
    return [255, 255, 255, 1];
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || element.closest("script, style, option, .out, .skip, .stage, :disabled")) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const drawn = element.ownerSVGElement !== null && element.ownerSVGElement !== undefined;
    const [front, back] = [read(drawn ? style.fill : style.color), behind(element)].map(light);
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    seen += 1;
    if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)}: ${texts.currentNode.data.trim().slice(0, 40)}`);
  }
  return { seen, found };
}
