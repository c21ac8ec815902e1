/**
 * The names and bytes of a store that both sides read. Start at {@link dev.larder.internal.layout.StoreLayout} for the files and at
 * {@link dev.larder.internal.layout.IndexDescriptor} for the index of a version.
 */
@NullMarked
package dev.larder.internal.layout;

import org.jspecify.annotations.NullMarked;
