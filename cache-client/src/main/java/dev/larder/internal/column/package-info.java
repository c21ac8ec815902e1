/**
 * Builds columns, which store lists and dicts as flat arrays. A {@link dev.larder.internal.column.ColumnBuilder} takes rows or keys one by
 * one and returns the {@link dev.larder.internal.column.ColumnArray}s to store. {@code dev.larder.client} reads them.
 */
@NullMarked
package dev.larder.internal.column;

import org.jspecify.annotations.NullMarked;
