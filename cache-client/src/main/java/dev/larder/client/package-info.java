/**
 * The API of a trainer: [dev.larder.client.Larder] opens a [dev.larder.client.Dataset], which is one version and has an
 * [dev.larder.client.ArrayView] of each array.
 */
@NullMarked
package dev.larder.client;

import org.jspecify.annotations.NullMarked;
