/**
 * Every name and byte of a store that both sides read: start at {@link dev.larder.internal.layout.StoreLayout} for the files and
 * {@link dev.larder.internal.layout.IndexDescriptor} for the index of a version.
 */
@NullMarked
package dev.larder.internal.layout;

import org.jspecify.annotations.NullMarked;
