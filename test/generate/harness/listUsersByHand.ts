/** `listUsers` as a person would declare it, to compare the size of the generated one with. */
import {
  BadRequest,
  Forbidden,
  InsufficientScope,
  RateLimited,
  ServiceUnavailable,
  Unauthorized
} from "effect-identity-client/Errors"
import * as Operation from "effect-identity-client/Operation"
import { integer, list, omittable, oneOf } from "effect-identity-client/Schemas"
import { Timestamp } from "effect-identity-client/Timestamp"
import * as Schema from "effect/Schema"

const profile = {
  email: omittable(Schema.String),
  email_verified: omittable(Schema.Boolean),
  name: omittable(Schema.String),
  username: omittable(Schema.String),
  given_name: omittable(Schema.String),
  phone_number: omittable(Schema.String),
  phone_verified: omittable(Schema.Boolean),
  family_name: omittable(Schema.String)
}

const metadata = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const provider = oneOf(
  "ad",
  "adfs",
  "amazon",
  "apple",
  "dropbox",
  "bitbucket",
  "auth0-oidc",
  "auth0",
  "baidu",
  "bitly",
  "box",
  "custom",
  "daccount",
  "dwolla",
  "email",
  "evernote-sandbox",
  "evernote",
  "exact",
  "facebook",
  "fitbit",
  "github",
  "google-apps",
  "google-oauth2",
  "instagram",
  "ip",
  "line",
  "linkedin",
  "oauth1",
  "oauth2",
  "office365",
  "oidc",
  "okta",
  "paypal",
  "paypal-sandbox",
  "pingfederate",
  "planningcenter",
  "salesforce-community",
  "salesforce-sandbox",
  "salesforce",
  "samlp",
  "sharepoint",
  "shopify",
  "shop",
  "sms",
  "soundcloud",
  "thirtysevensignals",
  "twitter",
  "untappd",
  "vkontakte",
  "waad",
  "weibo",
  "windowslive",
  "wordpress",
  "yahoo",
  "yandex"
)

const identity = Schema.Struct({
  connection: omittable(Schema.String),
  user_id: omittable(Schema.Union(Schema.String, Schema.Number)),
  provider: omittable(provider),
  isSocial: omittable(Schema.Boolean),
  access_token: omittable(Schema.String),
  access_token_secret: omittable(Schema.String),
  refresh_token: omittable(Schema.String),
  profileData: omittable(Schema.Struct(profile))
})

const user = Schema.Struct({
  ...profile,
  user_id: omittable(Schema.String),
  created_at: omittable(Timestamp),
  updated_at: omittable(Timestamp),
  identities: list(identity),
  app_metadata: omittable(metadata),
  user_metadata: omittable(metadata),
  picture: omittable(Schema.String),
  nickname: omittable(Schema.String),
  multifactor: list(Schema.String),
  multifactor_last_modified: omittable(Timestamp),
  last_ip: omittable(Schema.String),
  last_login: omittable(Timestamp),
  last_password_reset: omittable(Timestamp),
  logins_count: omittable(Schema.Number),
  blocked: omittable(Schema.Boolean)
})

const page = Schema.Struct({
  start: omittable(Schema.Number),
  limit: omittable(Schema.Number),
  length: omittable(Schema.Number),
  total: omittable(Schema.Number),
  users: list(user)
})

export const listUsers = Operation.make("listUsers", () => ({
  method: "GET",
  path: "/users",
  query: {
    page: Schema.optional(integer({ min: 0 })),
    per_page: Schema.optional(integer({ min: 0, max: 100 })),
    include_totals: Schema.optional(Schema.Boolean),
    sort: Schema.optional(Schema.String),
    connection: Schema.optional(Schema.String),
    fields: Schema.optional(Schema.String),
    include_fields: Schema.optional(Schema.Boolean),
    q: Schema.optional(Schema.String),
    search_engine: Schema.optional(Schema.Literal("v1", "v2", "v3")),
    primary_order: Schema.optional(Schema.Boolean)
  },
  success: Schema.Union(Schema.Array(user), page),
  items: "users",
  scope: ["read:users", "read:user_idp_tokens"],
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited, ServiceUnavailable]
}))
