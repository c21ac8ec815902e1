/**
 * What the daemon remembers of versions over a clean stop: {@link dev.larder.server.catalog.Catalog}. It can be lost, as the
 * manifests in the store say everything but the last use. The only package that knows Chronicle Map.
 */
@NullMarked
package dev.larder.server.catalog;

import org.jspecify.annotations.NullMarked;
