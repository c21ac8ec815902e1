/**
 * Every name and byte of a store that both sides read: start at {@link dev.larder.layout.StoreLayout} for the files and
 * {@link dev.larder.layout.IndexDescriptor} for the index of a version.
 */
@NullMarked
package dev.larder.layout;

import org.jspecify.annotations.NullMarked;
