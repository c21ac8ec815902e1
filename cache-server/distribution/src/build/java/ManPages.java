import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.IllegalFormatException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.IParamLabelRenderer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Writes a manual page for a command and each of its subcommands, from what picocli knows of them: CLASS FOLDER. */
final class ManPages {
    private static final int WIDE = 10_000;

    private final StringBuilder page = new StringBuilder();
    private final CommandSpec spec;
    private final IParamLabelRenderer labels;

    private ManPages(CommandSpec spec) {
        this.spec = spec;
        labels = new Help(spec, Help.defaultColorScheme(Ansi.OFF)).createDefaultParamLabelRenderer();
    }

    public static void main(String[] args) throws Exception {
        CommandLine command = new CommandLine(Class.forName(args[0]));
        Path folder = Files.createDirectories(Path.of(args[1]));
        write(command.getCommandSpec(), folder);
        command.getSubcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(spec -> !spec.usageMessage().hidden())
                .forEach(spec -> write(spec, folder));
    }

    private static void write(CommandSpec spec, Path folder) {
        try {
            Files.writeString(folder.resolve(name(spec) + ".1"), new ManPages(spec).text());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String name(CommandSpec spec) {
        return spec.qualifiedName("-");
    }

    private String text() {
        macro(".TH", name(spec).toUpperCase(Locale.ROOT), "1", "", spec.root().version()[0], "Larder");
        section("NAME");
        line(name(spec) + " - " + first(spec));
        section("SYNOPSIS");
        spec.usageMessage().width(WIDE);
        page.append(".nh\n.ad l\n");
        line(new Help(spec, Help.defaultColorScheme(Ansi.OFF)).synopsis(0).strip());
        section("DESCRIPTION");
        paragraphs(spec.usageMessage().description());
        arguments();
        subcommands();
        if (spec.usageMessage().footer().length > 0) {
            section("NOTES");
            paragraphs(spec.usageMessage().footer());
        }
        if (spec.parent() != null) {
            section("SEE ALSO");
            macro(".BR", name(spec.parent()), "(1)");
        }
        return page.toString();
    }

    private void arguments() {
        List<PositionalParamSpec> positionals = spec.positionalParameters().stream()
                .filter(positional -> !positional.hidden())
                .collect(Collectors.toList());
        if (!positionals.isEmpty()) {
            section("ARGUMENTS");
            positionals.forEach(positional -> item(label(positional), positional));
        }
        section("OPTIONS");
        spec.options().stream()
                .filter(option -> !option.hidden())
                .forEach(option -> item(names(option) + label(option), option));
    }

    private static String names(OptionSpec option) {
        return List.of(option.names()).stream()
                .map(name -> "\\fB" + escape(name) + "\\fR")
                .collect(Collectors.joining(", "));
    }

    private String label(ArgSpec arg) {
        return "\\fI" + escape(labels.renderParameterLabel(arg, Ansi.OFF, List.of()).toString()) + "\\fR";
    }

    private void item(String heading, ArgSpec arg) {
        page.append(".TP\n").append(heading).append('\n');
        paragraphs(arg.description());
    }

    private void subcommands() {
        if (spec.subcommands().isEmpty()) {
            return;
        }
        section("COMMANDS");
        for (CommandLine command : spec.subcommands().values()) {
            CommandSpec sub = command.getCommandSpec();
            if (!sub.usageMessage().hidden()) {
                page.append(".TP\n.BR \"").append(escape(name(sub))).append("\" (1)\n");
                line(first(sub));
            }
        }
    }

    private static String first(CommandSpec spec) {
        String[] description = spec.usageMessage().description();
        return description.length == 0 ? spec.name() : shown(description[0]).strip();
    }

    private void section(String title) {
        macro(".SH", title);
    }

    private void macro(String name, String... words) {
        page.append(name);
        for (String word : words) {
            page.append(" \"").append(escape(word)).append('"');
        }
        page.append('\n');
    }

    /** Writes each text as lines of its own: an option's lines are told apart as in its help. */
    private void paragraphs(String[] texts) {
        boolean begun = false;
        for (String text : texts) {
            for (String line : shown(text).split("\n", -1)) {
                if (!line.isBlank()) {
                    page.append(begun ? ".br\n" : "");
                    line(line.strip());
                    begun = true;
                }
            }
        }
    }

    /** Shows a text as picocli's own help does, which takes one that is no format as it stands. */
    private static String shown(String text) {
        String formatted;
        try {
            formatted = String.format(text);
        } catch (IllegalFormatException plain) {
            formatted = text;
        }
        return Ansi.OFF.string(formatted);
    }

    private void line(String text) {
        String escaped = escape(text);
        page.append(escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" : "").append(escaped).append('\n');
    }

    private static String escape(String text) {
        String escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("\"", "\\(dq");
        return escaped.codePoints()
                .mapToObj(point -> point < 128 ? Character.toString(point) : String.format("\\[u%04X]", point))
                .collect(Collectors.joining());
    }
}
