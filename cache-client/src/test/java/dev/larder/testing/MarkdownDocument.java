package dev.larder.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A document of the project, taken apart into what a test can check: fenced blocks, links, and what stands in backticks.
 *
 * <p>Behind the language of a block stands what else is said of it, as {@code key: value}: {@code not-run: why},
 * {@code file: name} (write it there), {@code module: folder} (the module that compiles it).
 *
 * @param root the folder of the project
 * @param name where it lies, relative to that
 * @param blocks its fenced blocks
 * @param inlines what stands in backticks in its prose
 * @param links what it links to
 */
public record MarkdownDocument(Path root, String name, List<Block> blocks, List<Inline> inlines, List<Inline> links) {
    private static final Pattern CODE = Pattern.compile("(`+)(.+?)\\1");
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*]\\(([^)\\s]+)\\)");
    private static final Pattern INFO = Pattern.compile("(\\S*)\\s*(?:([a-z-]+):\\s*(.*))?");

    /**
     * A fenced block.
     *
     * @param document the name of its document
     * @param line the number of its first line of text
     * @param language what stands behind the fence
     * @param key what else is said of it, else empty
     * @param value that what is said
     * @param text its lines
     */
    public record Block(String document, int line, String language, String key, String value, List<String> text) {
        /** Returns why it is not run, if it is not. */
        public Optional<String> notRun() {
            return said("not-run");
        }

        /** Returns what is said of it under a key. */
        public Optional<String> said(String wanted) {
            return key.equals(wanted) ? Optional.of(value) : Optional.empty();
        }

        @Override
        public String toString() {
            return document + ":" + line + " " + language;
        }
    }

    /**
     * Some text within a line.
     *
     * @param document the name of its document
     * @param line the number of its line
     * @param column where in the line it begins, from 0
     * @param text the text
     * @param context the line
     */
    public record Inline(String document, int line, int column, String text, String context) {
        /** Returns whether it stands in the first cell of a row of a table. */
        public boolean isFirstCell() {
            return context.startsWith("| ") && context.indexOf(" | ") > column;
        }

        @Override
        public String toString() {
            return document + ":" + line + ": " + text;
        }
    }

    /** Returns the blocks of all documents that a module compiles. */
    public static List<Block> blocksOf(Path root, String module) throws IOException {
        return all(root).stream()
                .flatMap(document -> document.blocks().stream())
                .filter(block -> block.said("module").filter(module::equals).isPresent())
                .toList();
    }

    /** Reads the README and everything under {@code ops/docs}, in the order of their names. */
    public static List<MarkdownDocument> all(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root.resolve("ops/docs"))) {
            List<Path> found = new ArrayList<>(List.of(root.resolve("README.md")));
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(found::add);
            List<MarkdownDocument> documents = new ArrayList<>();
            for (Path file : found) {
                documents.add(of(root, root.relativize(file).toString(), Files.readAllLines(file)));
            }
            return documents;
        }
    }

    /** Takes the lines of a document apart. */
    public static MarkdownDocument of(Path root, String name, List<String> lines) {
        List<Block> blocks = new ArrayList<>();
        List<Inline> inlines = new ArrayList<>();
        List<Inline> links = new ArrayList<>();
        int at = 0;
        while (at < lines.size()) {
            String line = lines.get(at++);
            if (!line.startsWith("```")) {
                find(CODE, 2, name, at, line, inlines);
                find(LINK, 1, name, at, line, links);
                continue;
            }
            int begin = at;
            while (at < lines.size() && !lines.get(at).equals("```")) {
                at++;
            }
            if (at == lines.size()) {
                throw new AssertionError(name + ":" + begin + ": the block has no end");
            }
            blocks.add(block(name, begin, line.substring(3), lines.subList(begin, at++)));
        }
        return new MarkdownDocument(root, name, List.copyOf(blocks), List.copyOf(inlines), List.copyOf(links));
    }

    private static Block block(String name, int begin, String info, List<String> text) {
        Matcher matcher = INFO.matcher(info.strip());
        if (!matcher.matches()) {
            throw new AssertionError(name + ":" + begin + ": cannot be understood: " + info);
        }
        return new Block(
                name, begin + 1, matcher.group(1), said(matcher.group(2)), said(matcher.group(3)), List.copyOf(text));
    }

    private static String said(String text) {
        return Optional.ofNullable(text).orElse("");
    }

    private static void find(Pattern pattern, int group, String name, int line, String text, List<Inline> found) {
        pattern.matcher(text)
                .results()
                .forEach(hit -> found.add(
                        new Inline(name, line, hit.start(), hit.group(group).strip(), text)));
    }

    /** Returns where the document lies. */
    public Path path() {
        return root.resolve(name);
    }

    /** Returns all of its text. */
    public String text() {
        try {
            return Files.readString(path());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
