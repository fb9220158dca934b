// Texts whose contrast with what is behind them is below 4.5 (WCAG 2, AA).
() => {
  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const light = (channel) => (channel / 255 <= 0.04045 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const one of document.querySelectorAll("body *")) {
    const says = Array.from(one.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!says || one.closest("svg") || ["SCRIPT", "STYLE"].includes(one.tagName)) continue;
    const [a, b] = [luminance(numbers(getComputedStyle(one).color)), luminance(behind(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.add(`${one.tagName}.${one.className} ${ratio.toFixed(2)}`);
  }
  return Array.from(found);
};
