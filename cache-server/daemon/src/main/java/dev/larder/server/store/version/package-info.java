/**
 * What is known of a version, resident or not: where it came from, what it holds, who had it published, and the
 * manifest that says so on disk.
 */
@NullMarked
package dev.larder.server.store.version;

import org.jspecify.annotations.NullMarked;
