package dev.larder.command.launch;

import dev.larder.command.options.SourceConverter;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * One {@code --data} option.
 *
 * @param source of the dataset
 * @param as the kind of its files
 * @param isShard whether each node has some of its rows instead of all
 */
record DataSource(LoadRequest.Source source, LoadOptions.As as, boolean isShard) {
    private static final String AS = "as=";
    private static final String SHARD = "shard";
    private static final Pattern SUFFIX = Pattern.compile(",(?<word>whole|shard|as=[a-z]*)$");
    private static final String SUFFIXES = " (,as=KIND, and ,whole or ,shard)";

    /** Returns the text that is the same on all nodes. */
    String wanted() {
        String kind = as == LoadOptions.As.ARRAYS ? "" : ":" + as.name().toLowerCase(Locale.ROOT);
        return source.name() + kind + (isShard ? ":shard" : "");
    }

    /** Parses {@code NAME=PATH[,as=KIND][,whole|shard]}, with both suffixes in any order. */
    static final class Converter implements ITypeConverter<DataSource> {
        private final SourceConverter sources = new SourceConverter();

        @Override
        public DataSource convert(String text) {
            String rest = text;
            String kind = "";
            String placement = "";
            for (Matcher suffix = SUFFIX.matcher(rest); suffix.find(); suffix = SUFFIX.matcher(rest)) {
                String word = suffix.group("word");
                boolean isKind = word.startsWith(AS);
                if (!(isKind ? kind : placement).isEmpty()) {
                    throw new TypeConversionException("one suffix too many: '" + suffix.group() + "'" + SUFFIXES);
                }
                kind = isKind ? word : kind;
                placement = isKind ? placement : word;
                rest = rest.substring(0, suffix.start());
            }
            LoadRequest.Source source = sources.convert(rest);
            requireNoOtherSuffix(source);
            return new DataSource(
                    source,
                    kind.isEmpty() ? LoadOptions.As.ARRAYS : kind(kind.substring(AS.length())),
                    placement.equals(SHARD));
        }

        /** A path may have commas. */
        private static void requireNoOtherSuffix(LoadRequest.Source source) {
            int comma = source.path().lastIndexOf(',');
            if (comma > 0
                    && !source.isRemote()
                    && Files.notExists(source.file())
                    && Files.exists(Path.of(source.path().substring(0, comma)))) {
                throw new TypeConversionException(
                        "no such suffix: '" + source.path().substring(comma) + "'" + SUFFIXES);
            }
        }

        private static LoadOptions.As kind(String word) {
            for (LoadOptions.As as : LoadOptions.As.values()) {
                if (as.name().toLowerCase(Locale.ROOT).equals(word)) {
                    return as;
                }
            }
            throw new TypeConversionException(
                    "not a kind of column: 'as=" + word + "' (arrays, ragged, strings, index, bytes or images)");
        }
    }
}
