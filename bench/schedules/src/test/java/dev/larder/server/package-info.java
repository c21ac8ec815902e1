/** Callers that load the same dataset at the same time. */
@NullMarked
package dev.larder.server;

import org.jspecify.annotations.NullMarked;
