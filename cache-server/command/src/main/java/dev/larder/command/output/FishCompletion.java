package dev.larder.command.output;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes the completion script for fish, which picocli cannot generate: commands, options, and words of options. */
public final class FishCompletion {
    private FishCompletion() {}

    /** Returns the lines for a command and its subcommands. */
    public static List<String> lines(String name, CommandLine command) {
        List<String> lines = new ArrayList<>();
        lines.add("complete -c " + name + " -n __fish_use_subcommand -f");
        Map<String, CommandLine> subcommands = command.getSubcommands();
        subcommands.forEach((word, subcommand) -> lines.add("complete -c " + name + " -n __fish_use_subcommand -a "
                + word + description(subcommand.getCommandSpec().usageMessage().description())));
        subcommands.forEach((word, subcommand) -> addOptions(
                "complete -c " + name + " -n '__fish_seen_subcommand_from " + word + "'",
                subcommand.getCommandSpec(),
                lines));
        return lines;
    }

    private static void addOptions(String start, CommandSpec command, List<String> lines) {
        for (OptionSpec option : command.options()) {
            if (!option.hidden()) {
                lines.add(start + names(option) + value(option) + description(option.description()));
            }
        }
    }

    private static String names(OptionSpec option) {
        return List.of(option.names()).stream()
                .map(name -> name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1))
                .collect(Collectors.joining());
    }

    /** An option takes one of its words, or files if it has none. */
    private static String value(OptionSpec option) {
        if (option.arity().max() == 0) {
            return "";
        }
        Iterable<String> words = option.completionCandidates();
        return words == null
                ? " -r -F"
                : " -x -a "
                        + quoted(
                                StreamSupport.stream(words.spliterator(), false).collect(Collectors.joining(" ")));
    }

    /** Returns the first sentence. */
    private static String description(String[] text) {
        String first = text.length == 0 ? "" : text[0].replace("$$", "$").replaceFirst("(?s)(?<=[.:;]) .*", "");
        return first.isEmpty() ? "" : " -d " + quoted(first.replaceFirst("[.:;]$", ""));
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
