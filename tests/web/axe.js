/** Checks of accessibility. */

import { readFileSync } from "node:fs";

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** The violations of WCAG 2.2 AA that axe finds in a page, in short; or those of one rule. */
export async function axeViolations(page, rule) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const runOnly = rule ? { type: "rule", values: [rule] } : { type: "tag", values: WCAG };
  const { violations } = await page.evaluate((only) => window.axe.run(document, { runOnly: only, resultTypes: ["violations"] }), runOnly);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? node.all[0]?.message ?? node.none[0]?.message ?? ""}`).join(" | ")}`);
}
