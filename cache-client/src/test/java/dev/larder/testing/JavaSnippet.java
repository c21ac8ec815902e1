package dev.larder.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A block of Java in a document, made into a class: a program as it stands, or statements in the method {@code block} of a
 * subclass of the surroundings, whose members they may use.
 *
 * @param block the block
 * @param className the name of the class
 * @param isProgram whether it has a {@code main} of its own
 * @param source the class; its lines have the numbers that they have in the document
 */
public record JavaSnippet(MarkdownDocument.Block block, String className, boolean isProgram, String source) {
    private static final Pattern PROGRAM = Pattern.compile("(?:public )?class (\\w+) \\{.*");
    private static final Pattern IMPORT = Pattern.compile("\\s*(import [\\w.*]+;)(.*)");

    /** Makes a class of a block. */
    public static JavaSnippet of(MarkdownDocument.Block block, String surroundings) {
        for (String line : block.text()) {
            Matcher program = PROGRAM.matcher(line);
            if (program.matches()) {
                String text = "\n".repeat(block.line() - 1) + String.join("\n", block.text());
                return new JavaSnippet(block, program.group(1), true, text);
            }
        }
        String name = block.document().replaceAll("\\W", "_") + "_" + block.line();
        StringBuilder imports = new StringBuilder();
        StringBuilder body = new StringBuilder();
        for (String line : block.text()) {
            Matcher statement = IMPORT.matcher(line);
            if (statement.matches()) {
                imports.append(statement.group(1));
                body.append(statement.group(2)).append('\n');
            } else {
                body.append(line).append('\n');
            }
        }
        String head = imports + "public final class " + name + " extends " + surroundings
                + " { @Override public void block() throws Exception {";
        return new JavaSnippet(block, name, false, head + "\n".repeat(block.line() - 1) + body + "}}");
    }

    /**
     * Compiles classes and returns what the compiler has against them, with lines of the documents; warnings are nothing.
     *
     * @param imports what every block of statements may use without an import of its own
     */
    public static List<String> compile(List<JavaSnippet> snippets, String imports, Path folder) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(found, Locale.ROOT, null)) {
            List<Path> sources = new ArrayList<>();
            for (JavaSnippet snippet : snippets) {
                Path source = folder.resolve(snippet.className() + ".java");
                Files.writeString(source, (snippet.isProgram() ? "" : imports) + snippet.source());
                sources.add(source);
            }
            List<String> options = List.of("-proc:none", "-nowarn", "-d", folder.toString(), "-cp", classPath());
            compiler.getTask(null, files, found, options, null, files.getJavaFileObjectsFromPaths(sources))
                    .call();
        }
        return found.getDiagnostics().stream()
                .filter(finding -> finding.getKind() == Diagnostic.Kind.ERROR)
                .map(finding -> describe(finding, snippets))
                .toList();
    }

    /** Returns the class path of this test. */
    public static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    private static String describe(Diagnostic<? extends JavaFileObject> finding, List<JavaSnippet> snippets) {
        String message = finding.getMessage(Locale.ROOT).lines().findFirst().orElse("");
        JavaFileObject source = finding.getSource();
        String document = snippets.stream()
                .filter(snippet -> source != null && source.getName().endsWith("/" + snippet.className() + ".java"))
                .map(snippet -> snippet.block().document())
                .findFirst()
                .orElse("no document");
        return document + ":" + finding.getLineNumber() + ": " + message;
    }
}
