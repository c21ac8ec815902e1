/** PyTorch's Gloo between the nodes of a process group: {@link dev.larder.gloo.GlooTransport}, found by ServiceLoader. */
@NullMarked
package dev.larder.gloo;

import org.jspecify.annotations.NullMarked;
