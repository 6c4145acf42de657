// Hands token streams to Dolos's index and writes which fingerprints files share.
// Reads {kgram, window, most, files, template} from stdin; tokens are numbers.
import { readFileSync } from "node:fs";
import { File, FingerprintIndex, Region, TokenizedFile } from "@dodona/dolos-core";

const { kgram, window, most, files, template } = JSON.parse(readFileSync(0, "utf8"));
const longest = [...files, ...template].reduce((n, each) => Math.max(n, each.length), 0);
// Where a token stands in a text does not matter here: its index is its position.
const positions = Array.from({ length: longest }, (_, i) => new Region(0, i, 0, i + 1));
const tokenized = (tokens, id) =>
  new TokenizedFile(new File("", "", undefined, id), tokens.map(String), positions);

const index = new FingerprintIndex(kgram, window, false, most);
template.forEach((tokens, i) => index.addIgnoredFile(tokenized(tokens, files.length + i)));
index.addFiles(files.map(tokenized));
const shared = index
  .sharedFingerprints()
  .filter((each) => !each.ignored && each.fileCount() > 1)
  .map((each) => each.files().map((file) => [file.id, each.occurrencesOf(file)[0].side.start]));
process.stdout.write(JSON.stringify(shared));
