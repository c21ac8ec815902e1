package dev.larder.client;

import dev.larder.layout.ColumnKind;

/**
 * A column that a dataset has.
 *
 * @param name what {@link Dataset#index}, {@link Dataset#strings}, {@link Dataset#ragged} or {@link Dataset#bytes} take
 * @param kind which of the four it is
 */
public record Column(String name, ColumnKind kind) {
    @Override
    public String toString() {
        return name + " (" + kind.word() + ")";
    }
}
