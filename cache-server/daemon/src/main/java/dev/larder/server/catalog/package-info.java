/**
 * The times of last use, which survive a stop in order: {@link dev.larder.server.catalog.Catalog}. They can be lost: the manifests in the store contain
 * everything else. The only package that uses Chronicle Map.
 */
@NullMarked
package dev.larder.server.catalog;

import org.jspecify.annotations.NullMarked;
