/**
 * Makes columns: lists and dicts as flat arrays. A {@link dev.larder.column.ColumnBuilder} takes rows or keys one by one and
 * gives the {@link dev.larder.column.ColumnArray}s to be stored. Reading them is {@code dev.larder.client}'s part.
 */
@NullMarked
package dev.larder.column;

import org.jspecify.annotations.NullMarked;
