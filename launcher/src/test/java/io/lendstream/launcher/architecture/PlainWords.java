package io.lendstream.launcher.architecture;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Searches a checkout for words that the style does not allow: in pages, in comments and texts of sources, and in
 * scripts.
 *
 * <p>{@code ./dev words} runs this file alone, on any checkout. It needs nothing but a JDK.
 */
final class PlainWords {
    /** The longest line that Javadoc may have. */
    static final int LONGEST_JAVADOC_LINE = 120;

    private static final Pattern LINK_TARGET = Pattern.compile("\\]\\([^)]*\\)");
    private static final Pattern INLINE_CODE = Pattern.compile("`[^`]*`");
    private static final Pattern JAVADOC_CODE = Pattern.compile("\\{@code [^}]*\\}");
    private static final Pattern DESCRIPTION =
            Pattern.compile("\"(?:doc|description|title)\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Pattern METHOD = Pattern.compile("^\\s+(?:[a-z]+ )*void (\\w+)\\(");

    private final List<Rule> rules;
    private final List<Hit> hits = new ArrayList<>();
    private final List<Hit> longLines = new ArrayList<>();
    private int files;

    private PlainWords(List<Rule> rules) {
        this.rules = rules;
    }

    /** A part of a checkout. */
    enum Part {
        /** Pages: all Markdown files except the dated measurements. */
        DOCS,
        /** Main sources, schemas, deployment files and scripts. */
        MAIN,
        /** Comments, texts and method names of tests. */
        TESTS
    }

    /** A pattern with the words to use instead. */
    record Rule(Pattern pattern, String instead) {}

    /** A place where a pattern matches. */
    record Hit(Part part, Path file, int line, String found, String instead) {
        @Override
        public String toString() {
            return "%s:%d: %s -> write: %s".formatted(file, line, found, instead);
        }
    }

    /** The rules of a file: a regular expression, a tab and the words to use instead on each line. */
    static List<Rule> rules(Path file) throws IOException {
        List<Rule> rules = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] parts = line.split("\t", 2);
                if (parts.length < 2) {
                    throw new IllegalArgumentException(
                            "'%s' has no tab; write PATTERN, a tab, INSTEAD".formatted(line));
                }
                rules.add(new Rule(Pattern.compile(parts[0], Pattern.CASE_INSENSITIVE), parts[1].strip()));
            }
        }
        return rules;
    }

    /** Searches all files of a checkout. */
    static PlainWords search(Path root, List<Rule> rules) throws IOException {
        PlainWords words = new PlainWords(rules);
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                String name = directory.getFileName() == null
                        ? ""
                        : directory.getFileName().toString();
                boolean isHidden = name.startsWith(".") && !name.equals(".") && !name.equals("..");
                boolean isLeftOut = isHidden || name.equals("target") || directory.endsWith("benchmarks/results");
                return isLeftOut ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile()) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        found.sort(null);
        for (Path file : found) {
            words.file(root, file);
        }
        return words;
    }

    /** The places where a pattern matches. */
    List<Hit> hits() {
        return List.copyOf(hits);
    }

    /** Javadoc lines of main sources that are too long. */
    List<Hit> longLines() {
        return List.copyOf(longLines);
    }

    /** Files that were searched. */
    int files() {
        return files;
    }

    private void file(Path root, Path file) throws IOException {
        Path below = root.relativize(file);
        String path = below.toString().replace('\\', '/');
        String name = file.getFileName().toString();
        if (name.endsWith(".md")) {
            page(below, text(file));
        } else if (name.endsWith(".java") && path.contains("src/main/")) {
            source(Part.MAIN, below, text(file));
        } else if (name.endsWith(".java") && path.contains("src/test/")) {
            source(Part.TESTS, below, text(file));
        } else if (name.endsWith(".avsc")) {
            descriptions(below, text(file));
        } else if (path.equals("dev") || path.equals("lendstream")) {
            script(below, text(file), true);
        } else if (path.startsWith("deploy/")) {
            deployment(below, name, text(file));
        }
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    private void deployment(Path file, String name, String text) {
        if (name.endsWith(".json")) {
            descriptions(file, text);
        } else if (text.indexOf('\0') < 0) {
            script(file, text, name.endsWith(".sh") || name.equals("NOTES.txt"));
        }
    }

    /** A page: paragraphs may be wrapped; headings and rows of tables stand alone. */
    private void page(Path file, String text) {
        files++;
        Prose prose = new Prose();
        int number = 0;
        for (String line : lines(text)) {
            number++;
            String bare = line.strip();
            boolean stands = bare.isEmpty() || bare.startsWith("#") || bare.startsWith("|") || bare.startsWith("```");
            if (stands) {
                match(Part.DOCS, file, prose);
                prose = new Prose();
            }
            prose.add(
                    number,
                    INLINE_CODE
                            .matcher(LINK_TARGET.matcher(bare).replaceAll("]"))
                            .replaceAll("code"));
            if (stands) {
                match(Part.DOCS, file, prose);
                prose = new Prose();
            }
        }
        match(Part.DOCS, file, prose);
    }

    /** A script, or another file with comments from {@code #} on. */
    private void script(Path file, String text, boolean whole) {
        files++;
        Prose prose = new Prose();
        int number = 0;
        for (String line : lines(text)) {
            number++;
            int comment = comment(line);
            if (!whole && comment < 0) {
                match(Part.MAIN, file, prose);
                prose = new Prose();
                continue;
            }
            prose.add(number, whole ? line : line.substring(comment + 1));
        }
        match(Part.MAIN, file, prose);
    }

    private static int comment(String line) {
        return line.strip().startsWith("#")
                ? line.indexOf('#')
                : line.indexOf(" # ") < 0 ? -1 : line.indexOf(" # ") + 1;
    }

    private void descriptions(Path file, String text) {
        files++;
        Matcher description = DESCRIPTION.matcher(text);
        while (description.find()) {
            Prose prose = new Prose();
            int line = 1
                    + (int) text.substring(0, description.start(1))
                            .chars()
                            .filter(each -> each == '\n')
                            .count();
            prose.add(line, description.group(1));
            match(Part.MAIN, file, prose);
        }
    }

    private void source(Part part, Path file, String text) {
        files++;
        for (Prose prose : new JavaText(text).read()) {
            match(part, file, prose);
        }
        int number = 0;
        boolean isJavadoc = false;
        for (String line : lines(text)) {
            number++;
            isJavadoc = isJavadoc || line.strip().startsWith("/**");
            if (part == Part.MAIN && isJavadoc && line.length() > LONGEST_JAVADOC_LINE) {
                String found = "a Javadoc line of %d characters".formatted(line.length());
                longLines.add(new Hit(part, file, number, found, "at most " + LONGEST_JAVADOC_LINE));
            }
            isJavadoc = isJavadoc && !line.contains("*/");
            Matcher method = METHOD.matcher(line);
            if (part == Part.TESTS && method.find()) {
                Prose prose = new Prose();
                prose.add(number, method.group(1).replaceAll("(?<=[a-z0-9])(?=[A-Z])", " "));
                match(part, file, prose);
            }
        }
    }

    private static String[] lines(String text) {
        return text.split("\r?\n", -1);
    }

    private void match(Part part, Path file, Prose prose) {
        String text = prose.text.toString();
        for (Rule rule : rules) {
            Matcher matcher = rule.pattern().matcher(text);
            while (matcher.find()) {
                hits.add(new Hit(part, file, prose.line(matcher.start()), matcher.group(), rule.instead()));
            }
        }
    }

    /** Running text, with the line on which each piece stands. */
    private static final class Prose {
        private final StringBuilder text = new StringBuilder();
        private final List<int[]> pieces = new ArrayList<>();

        void add(int line, String piece) {
            pieces.add(new int[] {text.length(), line});
            text.append(piece.strip().replaceAll("\\s+", " ")).append(' ');
        }

        int line(int offset) {
            int line = 0;
            for (int[] piece : pieces) {
                line = piece[0] <= offset ? piece[1] : line;
            }
            return line;
        }
    }

    /** Comments and texts of a Java source. Those that follow one another are read as one. */
    private static final class JavaText {
        private final String source;
        private final List<Prose> all = new ArrayList<>();
        /** The comment or text that the next one may continue: {@code /} or {@code "}; a space for none. */
        private char open = ' ';

        private Prose prose = new Prose();
        private int at;
        private int line = 1;

        JavaText(String source) {
            this.source = source;
        }

        List<Prose> read() {
            while (at < source.length()) {
                char next = source.charAt(at);
                if (source.startsWith("//", at)) {
                    begin('/');
                    int end = end("\n", at);
                    prose.add(line, source.substring(at + 2, end));
                    at = end;
                } else if (source.startsWith("/*", at)) {
                    open = ' ';
                    begin('*');
                    int end = end("*/", at + 2);
                    block(source.substring(at + 2, end), true);
                    at = end + 2;
                } else if (source.startsWith("\"\"\"", at)) {
                    begin('"');
                    int end = endOfText("\"\"\"", at + 3);
                    block(source.substring(at + 3, end), false);
                    at = end + 3;
                } else if (next == '"') {
                    begin('"');
                    int end = endOfText("\"", at + 1);
                    prose.add(line, plain(source.substring(at + 1, end)));
                    at = end + 1;
                } else if (next == '\'') {
                    at = endOfText("'", at + 1) + 1;
                    open = ' ';
                } else {
                    line += next == '\n' ? 1 : 0;
                    boolean goesOn = Character.isWhitespace(next) || (next == '+' && open == '"');
                    open = goesOn ? open : ' ';
                    at++;
                }
            }
            return all;
        }

        /** Goes on with the present prose if it is of the same kind, else begins another. */
        private void begin(char kind) {
            if (open != kind) {
                prose = new Prose();
                all.add(prose);
            }
            open = kind;
        }

        private void block(String text, boolean isComment) {
            for (String each : text.split("\n", -1)) {
                String bare = isComment ? each.strip().replaceFirst("^\\*+", "") : plain(each);
                prose.add(line, JAVADOC_CODE.matcher(bare).replaceAll("code"));
                line++;
            }
            line--;
        }

        private static String plain(String text) {
            return text.replaceAll("\\\\[nrt]", " ").replace("\\", "");
        }

        private int end(String mark, int from) {
            int end = source.indexOf(mark, from);
            return end < 0 ? source.length() : end;
        }

        private int endOfText(String mark, int from) {
            int end = from;
            while (end < source.length() && !source.startsWith(mark, end)) {
                end += source.charAt(end) == '\\' ? 2 : 1;
            }
            return Math.min(end, source.length());
        }
    }

    /** Prints the number of places by pattern and part, and ends with one line of JSON. Arguments: RULES ROOT. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            System.err.println("Usage: java PlainWords.java RULES ROOT");
            System.exit(2);
        }
        List<Rule> rules = rules(Path.of(arguments[0]));
        search(Path.of(arguments[1]).toAbsolutePath().normalize(), rules).print(rules, System.out);
    }

    private void print(List<Rule> rules, PrintStream out) {
        out.println("%6s %6s %6s  %s".formatted("docs", "main", "tests", "pattern"));
        List<String> byPattern = new ArrayList<>();
        for (Rule rule : rules) {
            List<Hit> found = hits.stream()
                    .filter(hit -> hit.instead().equals(rule.instead()))
                    .toList();
            row(out, found, rule.pattern().pattern());
            byPattern.add("\"%s\":%d".formatted(rule.pattern().pattern().replace("\\", "\\\\"), found.size()));
        }
        row(out, hits, "all");
        out.println("%d files; %d Javadoc lines above %d characters in main sources"
                .formatted(files, longLines.size(), LONGEST_JAVADOC_LINE));
        Map<Part, Long> counts = counts(hits);
        out.println("{%s,\"longJavadocLines\":%d,\"files\":%d,\"byPattern\":{%s}}"
                .formatted(
                        counts.entrySet().stream()
                                .map(part -> "\"%s\":%d"
                                        .formatted(part.getKey().name().toLowerCase(Locale.ROOT), part.getValue()))
                                .collect(Collectors.joining(",")),
                        longLines.size(),
                        files,
                        String.join(",", byPattern)));
    }

    private static void row(PrintStream out, List<Hit> hits, String name) {
        Map<Part, Long> counts = counts(hits);
        out.println("%6d %6d %6d  %s"
                .formatted(
                        counts.getOrDefault(Part.DOCS, 0L),
                        counts.getOrDefault(Part.MAIN, 0L),
                        counts.getOrDefault(Part.TESTS, 0L),
                        name));
    }

    private static Map<Part, Long> counts(List<Hit> hits) {
        Map<Part, Long> counts = new EnumMap<>(Part.class);
        for (Part part : Part.values()) {
            counts.put(part, hits.stream().filter(hit -> hit.part() == part).count());
        }
        return counts;
    }
}
