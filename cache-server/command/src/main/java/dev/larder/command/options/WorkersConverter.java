package dev.larder.command.options;

import dev.larder.internal.protocol.LoadRequest;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts a number of threads; {@code auto} and {@code -1} mean one for each processor, 0 in the control plane. */
final class WorkersConverter implements ITypeConverter<Integer> {
    private static final int AUTO = 0;

    @Override
    public Integer convert(String text) {
        if (text.equals("auto") || text.equals("-1")) {
            return AUTO;
        }
        try {
            int workers = Integer.parseInt(text);
            if (workers > 0 && workers <= LoadRequest.MAX_WORKERS) {
                return workers;
            }
        } catch (NumberFormatException notANumber) {
            // reported below
        }
        throw new TypeConversionException(
                "not a number of workers: '" + text + "' (1 to " + LoadRequest.MAX_WORKERS + ", -1 or auto)");
    }
}
