package dev.larder.command.launch;

import dev.larder.command.options.SourceConverter;
import dev.larder.internal.protocol.LoadRequest;
import picocli.CommandLine.ITypeConverter;

/**
 * One {@code --data}.
 *
 * @param source what is loaded
 * @param isShard whether each node has some rows of it, instead of all
 */
record DataSource(LoadRequest.Source source, boolean isShard) {
    private static final String WHOLE = ",whole";
    private static final String SHARD = ",shard";

    /** Reads {@code NAME=PATH[,whole|shard]}. */
    static final class Converter implements ITypeConverter<DataSource> {
        private final SourceConverter sources = new SourceConverter();

        @Override
        public DataSource convert(String text) {
            boolean isShard = text.endsWith(SHARD);
            boolean isMarked = isShard || text.endsWith(WHOLE);
            return new DataSource(
                    sources.convert(isMarked ? text.substring(0, text.length() - SHARD.length()) : text), isShard);
        }
    }
}
