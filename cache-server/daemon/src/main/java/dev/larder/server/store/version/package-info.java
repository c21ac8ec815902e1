/** The description of a version, resident or not: sources, contents, publisher, and its manifest on disk. */
@NullMarked
package dev.larder.server.store.version;

import org.jspecify.annotations.NullMarked;
