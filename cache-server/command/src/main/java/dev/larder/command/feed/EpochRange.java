package dev.larder.command.feed;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A range of epochs, both ends included.
 *
 * @param last {@link Long#MAX_VALUE} if there is no end
 */
public record EpochRange(long first, long last) {
    private static final Pattern RANGE = Pattern.compile("(\\d{1,18})(?:(\\.\\.)(\\d{1,18})?)?");

    /** Reads {@code 0..9}, {@code 3} for one epoch, or {@code 3..} for all from there on. */
    public static final class Converter implements ITypeConverter<EpochRange> {
        @Override
        public EpochRange convert(String text) {
            Matcher range = RANGE.matcher(text);
            if (!range.matches()) {
                throw new TypeConversionException("not epochs: '" + text + "' (epochs are 0..9, 3 or 3..)");
            }
            long first = Long.parseLong(range.group(1));
            long single = range.group(2) == null ? first : Long.MAX_VALUE;
            long last = range.group(3) == null ? single : Long.parseLong(range.group(3));
            if (last < first) {
                throw new TypeConversionException("the last epoch is before the first: '" + text + "'");
            }
            return new EpochRange(first, last);
        }
    }
}
