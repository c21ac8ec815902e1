package dev.larder.command.launch;

import dev.larder.command.options.SourceConverter;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * One {@code --data}.
 *
 * @param source what is loaded
 * @param as what becomes of its files
 * @param isShard whether each node has some rows of it, instead of all
 */
record DataSource(LoadRequest.Source source, LoadOptions.As as, boolean isShard) {
    private static final String WHOLE = ",whole";
    private static final String SHARD = ",shard";
    private static final Pattern AS = Pattern.compile(",as=([a-z]*)$");

    /** Says it as all nodes have to say it. */
    String wanted() {
        String kind = as == LoadOptions.As.ARRAYS ? "" : ":" + as.name().toLowerCase(Locale.ROOT);
        return source.name() + kind + (isShard ? ":shard" : "");
    }

    /** Reads {@code NAME=PATH[,as=KIND][,whole|shard]}. */
    static final class Converter implements ITypeConverter<DataSource> {
        private final SourceConverter sources = new SourceConverter();

        @Override
        public DataSource convert(String text) {
            boolean isShard = text.endsWith(SHARD);
            boolean isMarked = isShard || text.endsWith(WHOLE);
            String rest = isMarked ? text.substring(0, text.length() - SHARD.length()) : text;
            Matcher as = AS.matcher(rest);
            return as.find()
                    ? new DataSource(sources.convert(rest.substring(0, as.start())), kind(as.group(1)), isShard)
                    : new DataSource(sources.convert(rest), LoadOptions.As.ARRAYS, isShard);
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
