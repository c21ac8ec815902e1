/**
 * The daemon's records of versions that survive a clean stop: {@link dev.larder.server.catalog.Catalog}. It can be lost, because the
 * manifests in the store contain everything except the time of last use. The only package that uses Chronicle Map.
 */
@NullMarked
package dev.larder.server.catalog;

import org.jspecify.annotations.NullMarked;
